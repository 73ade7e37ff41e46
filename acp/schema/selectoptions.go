package schema

// SessionConfigSelectOptions is the choice that a select option offers: either
// [SelectOptions] or [SelectGroups].
type SessionConfigSelectOptions interface{ sessionConfigSelectOptions() }

// SelectOptions is a flat choice.
type SelectOptions []SessionConfigSelectOption

// SelectGroups is a choice under headings.
type SelectGroups []SessionConfigSelectGroup

func (SelectOptions) sessionConfigSelectOptions() {}
func (SelectGroups) sessionConfigSelectOptions()  {}

// MarshalJSON implements json.Marshaler.
func (o SelectOptions) MarshalJSON() ([]byte, error) {
	return List[SessionConfigSelectOption](o).MarshalJSON()
}

// MarshalJSON implements json.Marshaler.
func (g SelectGroups) MarshalJSON() ([]byte, error) {
	return List[SessionConfigSelectGroup](g).MarshalJSON()
}

func decodeSessionConfigSelectOptions(raw []byte) (SessionConfigSelectOptions, error) {
	parts, ok := elements(raw)
	if !ok {
		return nil, problem("must be an array")
	}
	if len(parts) > 0 && has(parts[0], "group") {
		groups, err := list(record[SessionConfigSelectGroup])(raw)
		return SelectGroups(groups), err
	}
	options, err := list(record[SessionConfigSelectOption])(raw)
	return SelectOptions(options), err
}
