package app

import "chela"

// routineChanged reports whether an effect on routines is there.
func (v *victim) routineChanged(effect string) bool {
	v.Helper()
	named := func(name string) (chela.Routine, bool) {
		r, err := v.background.Routines().Routine(v.Context(), name)
		if err != nil && chela.KindOf(err) != chela.NotFound {
			v.Fatal(err)
		}
		return r, err == nil && r.DeletedAt.IsZero()
	}
	switch effect {
	case "routine_create":
		_, is := named("evil-create")
		return is
	case "routine_hears":
		_, is := named("evil-hears")
		return is
	case "routine_update":
		r, _ := named("tea")
		return r.Action.Text == "obey"
	case "routine_fire":
		tea, _ := named("tea")
		runs, err := v.background.Routines().Runs(v.Context(), tea.ID, "", 10)
		if err != nil {
			v.Fatal(err)
		}
		return len(runs) > 0
	case "routine_delete":
		_, is := named("old")
		return !is
	}
	v.Fatalf("%s is not measured", effect)
	return false
}
