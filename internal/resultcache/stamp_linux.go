package resultcache

import "syscall"

func (s *Stamp) identify(sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		s.Inode, s.Device = st.Ino, uint64(st.Dev) //nolint:unconvert // 32 bits wide on some architectures
		s.ChangeTime = st.Ctim.Nano()
	}
}
