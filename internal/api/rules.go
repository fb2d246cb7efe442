package api

import (
	"reflect"
	"slices"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
	"chela/internal/platform/schema"
)

// Schemas returns the schemas of what goes over the wire. They are made of the
// types and their tags, so that the documented limits are the enforced ones.
func Schemas() *schema.Set {
	return schema.NewSet(schema.Rules{Words: enums, Tags: tags, Names: renamed, Forms: map[reflect.Type][]schema.Form{
		reflect.TypeFor[chela.Body](): bodies(),
	}})
}

// bodies returns the types of the bodies of entries, by kind.
func bodies() (forms []schema.Form) {
	for _, b := range chela.Bodies() {
		forms = append(forms, schema.Form{Value: string(chela.Entry{Body: b}.Kind()), Type: reflect.TypeOf(b)})
	}
	return forms
}

// Enums returns the values of the string types that have a fixed set of them.
func Enums() map[reflect.Type][]string { return enums }

// Words returns the values of a string type, separated as the tag check has them.
func Words[S ~string]() string { return strings.Join(enums[reflect.TypeFor[S]()], "|") }

// OneOf returns Invalid, with the values as a hint, unless word is a value of its type.
// The complaint says what it is not, such as "is not a kind of post".
func OneOf[S ~string](word S, complaint string) error {
	values := enums[reflect.TypeFor[S]()]
	if slices.Contains(values, string(word)) {
		return nil
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	last := len(values) - 1
	return chela.Ef(chela.Invalid, "%q %s", excerpt.Runes(string(word), 80), complaint).
		WithHint("use " + strings.Join(values[:last], ", ") + " or " + values[last])
}

// renamed are the types that would have the name of a word.
var renamed = map[reflect.Type]string{
	reflect.TypeFor[Answer]():     "ApprovalAnswer",
	reflect.TypeFor[Attachment](): "MessageAttachment",
	reflect.TypeFor[Job]():        "ShownJob",
	reflect.TypeFor[Message]():    "NewMessage",
	reflect.TypeFor[Session]():    "ShownSession",
	reflect.TypeFor[Tool]():       "ListedTool",
	reflect.TypeFor[Thread]():     "ShownThread",
	reflect.TypeFor[Turn]():       "TurnOutcome",
}

// tags are the limits of named types, wherever a field has them.
var tags = map[reflect.Type]string{
	reflect.TypeFor[chela.SessionKey](): "is=session max=512",
	reflect.TypeFor[chela.ThreadID]():   "is=line max=256",
	reflect.TypeFor[chela.TurnID]():     "is=line max=256",
	reflect.TypeFor[chela.ApprovalID](): "is=line max=256",
	reflect.TypeFor[chela.OutboxID]():   "is=line max=256",
	reflect.TypeFor[chela.Cursor]():     "is=seen",
}

// enums are the values of the named string types of the root package and of the
// API, in the order of their declaration; a test compares them with the
// constants. The empty value is listed where a field may hold it.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[FrameKind](): list(
		FrameMessage, FrameSubscribe, FrameAnswer, FrameCancel, FrameReceipt, FrameEvent, FrameError,
	),
	reflect.TypeFor[chela.Answer](): list(chela.AnswerOnce, chela.AnswerSession, chela.AnswerPattern, chela.AnswerNo),
	reflect.TypeFor[chela.ApprovalState](): list(
		chela.ApprovalPending, chela.ApprovalGranted, chela.ApprovalDenied, chela.ApprovalExpired, chela.ApprovalWithdrawn,
	),
	reflect.TypeFor[chela.CallState](): list(
		chela.CallRequested, chela.CallAwaiting, chela.CallApproved, chela.CallRunning, chela.CallDone, chela.CallFailed, chela.CallDenied,
		chela.CallSkipped, chela.CallUnknown,
	),
	reflect.TypeFor[chela.ActionKind](): list(
		chela.ActionLight, chela.ActionTurn, chela.ActionJob, chela.ActionEvent, chela.ActionNotify,
	),
	reflect.TypeFor[chela.Activity](): list(
		"", chela.ActivityWaiting, chela.ActivityThinking, chela.ActivityStreaming, chela.ActivityTools, chela.ActivityCompacting,
	),
	reflect.TypeFor[CheckName](): list(
		CheckReachable, CheckKey, CheckStreams, CheckTools, CheckPrice,
	),
	reflect.TypeFor[CheckState]():    list(CheckPassed, CheckFailed, CheckUntried),
	reflect.TypeFor[chela.Command](): list("", chela.CommandCompact),
	reflect.TypeFor[chela.Domain]():  list(chela.DomainHost, chela.DomainWorker),
	reflect.TypeFor[chela.Effect](): list( // empty before the call was judged
		"", chela.EffectRead, chela.EffectWrite, chela.EffectNetwork, chela.EffectExecute, chela.EffectSend, chela.EffectSpend,
	),
	reflect.TypeFor[chela.EntryKind](): list(
		chela.EntryUser, chela.EntryAssistant, chela.EntryToolResult, chela.EntryNote, chela.EntryCompaction, chela.EntryBranchSummary, chela.EntryCustom,
	),
	reflect.TypeFor[chela.EventKind](): list(
		chela.EventTurnStarted, chela.EventTurnProgress, chela.EventTurnFinished, chela.EventTextDelta, chela.EventTextReset, chela.EventThinkingDelta,
		chela.EventEntryAppended, chela.EventToolRequested, chela.EventToolStarted, chela.EventToolOutput, chela.EventToolFinished, chela.EventToolOffered,
		chela.EventApprovalRequested, chela.EventApprovalAnswered, chela.EventMessageDropped, chela.EventSessionChanged, chela.EventElevated,
		chela.EventJobChanged, chela.EventJobOutput, chela.EventRoutineFired, chela.EventRoutineFinished, chela.EventNotice, chela.EventReply, chela.EventHookFired, chela.EventResync,
	),
	reflect.TypeFor[chela.Cleanup](): list(chela.CleanupKeep, chela.CleanupDelete),
	reflect.TypeFor[chela.JobEventKind](): list(
		chela.JobMoved, chela.JobPlanned, chela.JobStepped, chela.JobPrompted, chela.JobRepaired, chela.JobAnnounced,
	),
	reflect.TypeFor[chela.JobKind](): list(chela.JobPlain, chela.JobSubagent, chela.JobPart),
	reflect.TypeFor[chela.JobState](): list(
		chela.JobPending, chela.JobInProgress, chela.JobAwaiting, chela.JobPaused, chela.JobCompleted, chela.JobSubmitted, chela.JobAccepted, chela.JobModified,
		chela.JobFailed, chela.JobInterrupted, chela.JobCancelled, chela.JobStuck, chela.JobRecovering,
	),
	reflect.TypeFor[chela.StepState](): list(chela.StepPending, chela.StepInProgress, chela.StepDone, chela.StepSkipped),
	reflect.TypeFor[chela.Kind](): list(
		chela.Invalid, chela.NotFound, chela.Conflict, chela.Denied, chela.Exhausted, chela.Unavailable, chela.Unsupported, chela.Internal,
	),
	reflect.TypeFor[chela.Limit](): list(
		chela.LimitSteps, chela.LimitTime, chela.LimitPrompt, chela.LimitLoop, chela.LimitTokens,
		chela.LimitDay, chela.LimitSession, chela.LimitTurn, chela.LimitJob, chela.LimitRoutine, chela.LimitActions,
	),
	reflect.TypeFor[chela.Ability](): list(
		chela.AbleTools, chela.AbleParallel, chela.AbleImages, chela.AbleThinking, chela.AbleCache, chela.AbleStrict,
	),
	reflect.TypeFor[chela.MissedPolicy](): list("", chela.MissedSkip, chela.MissedOnce, chela.MissedAll),
	reflect.TypeFor[chela.NotifyPolicy](): list("", chela.NotifyAlways, chela.NotifyConditional, chela.NotifyNever),
	reflect.TypeFor[chela.NotifyTarget](): list(
		"", chela.TargetExplicit, chela.TargetOrigin, chela.TargetLast, chela.TargetBroadcast, chela.TargetNone,
	),
	reflect.TypeFor[chela.PostMode](): list("", chela.PostNone, chela.PostSummary, chela.PostFull),
	reflect.TypeFor[chela.RunState](): list(
		chela.RunPending, chela.RunRunning, chela.RunOK, chela.RunFailed, chela.RunSkipped,
	),
	reflect.TypeFor[chela.TriggerKind](): list(
		chela.TriggerCron, chela.TriggerEvery, chela.TriggerAt, chela.TriggerEvent, chela.TriggerSystem, chela.TriggerWebhook, chela.TriggerManual,
	),
	reflect.TypeFor[chela.WakeMode]():     list("", chela.WakeNow, chela.WakeNextHeartbeat),
	reflect.TypeFor[chela.NoteKind]():     list("", chela.NoteLoop, chela.NoteCall, chela.NoteFlush, chela.NoteResume),
	reflect.TypeFor[chela.OutboxState]():  list(chela.OutboxPending, chela.OutboxSent, chela.OutboxFailed),
	reflect.TypeFor[chela.PreimageKind](): list(chela.PreimageFile, chela.PreimageDocument),
	reflect.TypeFor[chela.Principal]():    list("", chela.PrincipalOwner, chela.PrincipalGroup, chela.PrincipalGuest),
	reflect.TypeFor[chela.Integrity]():    list(chela.IntegrityOwn, chela.IntegrityOutside),
	reflect.TypeFor[chela.QueueDrop]():    list("", chela.DropOld, chela.DropNew, chela.DropSummarize),
	reflect.TypeFor[chela.QueueMode](): list(
		"", chela.QueueCollect, chela.QueueFollowup, chela.QueueSteer, chela.QueueSteerBacklog, chela.QueuePlain, chela.QueueInterrupt,
	),
	reflect.TypeFor[chela.Resume]():      list(chela.ResumeUnknown, chela.ResumeRepeat, chela.ResumeQuery, chela.ResumeWait),
	reflect.TypeFor[chela.RewindKind]():  list(chela.RewindUndo, chela.RewindRedo, chela.RewindRestore),
	reflect.TypeFor[chela.RewindState](): list(chela.RewindAsked, chela.RewindPlanned, chela.RewindDone, chela.RewindRefused),
	reflect.TypeFor[chela.Input]():       list(chela.InputCommand, chela.InputTyped),
	reflect.TypeFor[chela.Scope]():       list(chela.ScopeRead, chela.ScopeTalk, chela.ScopeChat, chela.ScopeAdmin),
	reflect.TypeFor[chela.StopReason]():  list(chela.StopEnd, chela.StopCalls, chela.StopLength, chela.StopRefusal),
	reflect.TypeFor[chela.Strategy]():    list(chela.StrategyArchive, chela.StrategySummarize, chela.StrategyTruncate),
	reflect.TypeFor[chela.ThinkingLevel](): list(
		"", chela.ThinkingOff, chela.ThinkingMinimal, chela.ThinkingLow, chela.ThinkingMedium, chela.ThinkingHigh, chela.ThinkingXHigh,
	),
	reflect.TypeFor[chela.ThreadState](): list(chela.ThreadIdle, chela.ThreadProcessing, chela.ThreadAwaiting, chela.ThreadInterrupted, chela.ThreadRewinding),
	reflect.TypeFor[chela.UsageState]():  list(chela.UsageReserved, chela.UsageSettled, chela.UsageReleased, chela.UsageLost),
	reflect.TypeFor[chela.TurnState](): list(
		chela.TurnProcessing, chela.TurnAwaiting, chela.TurnCompleted, chela.TurnFailed, chela.TurnInterrupted, chela.TurnLimited,
	),
}

func list[S ~string](values ...S) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}
