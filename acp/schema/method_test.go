package schema_test

import (
	"testing"

	"acp-agent/acp/schema"
	"acp-agent/internal/testkit/schematest"
)

// Methods agrees with the official schema on who serves what.
func TestMethods(t *testing.T) {
	v := schematest.Open(t)
	for _, m := range schema.Methods() {
		t.Run(m.Name, func(t *testing.T) {
			side, notification, ok := v.Method(m.Name)
			if !ok {
				t.Fatal("the schema does not have it")
			}
			want := map[string]schema.Side{"agent": schema.Agent, "client": schema.Client, "protocol": schema.Either}[side]
			if m.Server != want || m.Notification != notification {
				t.Errorf("%+v, but the schema says side %s, notification %t", m, side, notification)
			}
		})
	}
}
