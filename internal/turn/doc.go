// Package turn is the heart: it does what a turn does next, and writes down what
// came of it.
//
//	journal ──Fold──▶ State ──Next──▶ Action ──Runner──▶ Change ──append──▶ journal
//
// What comes next is decided by package machine, which is pure: no clock, no I/O,
// no randomness. What it needs beside the record (limits, whether the time is up,
// whether somebody asked to stop) comes in as [machine.Facts]. [Runner] performs
// actions and appends what came of them through a [Journal].
//
// # What is durable when
//
// Changes collect in a buffer until something is about to happen that must not
// be lost or repeated; then they are appended in one transaction:
//
//   - before tools run: the answer that asked for them, and for a call with an
//     effect also that it is running now
//   - after a call with an effect: its result
//   - before a person is asked, with the approval
//   - before calls are handed out, with that they run on the sender's side
//   - before the model is asked again, if an answer waits; results of reads
//     alone ride along with the next answer, as reading again does no harm
//   - before something leaves the prompt, as the head names it in the archive;
//     and with the compaction
//   - with the ending
//
// So on an idle lane a turn of text is two commits (the lane's that opened it,
// and the ending), a step of reads adds one, a call with an effect two.
//
// # Room in the prompt
//
// Before each request to the model, between steps too, the size of the prompt
// is looked at (see package prompt). What should leave is written into the
// archive first; then a compaction is appended, and from there on it has left.
// A crash between the two repeats both, and the archive takes it once. What
// cannot be kept does not leave, and what still does not fit then fails the turn.
// A provider that finds the prompt too large has the same effect, whatever was
// counted here. For one request each strategy is tried once, from mild to
// strong, so this comes to an end.
//
// Once between two compactions, shortly before one, the model is asked to write
// down what it should know later on. It can use the tools for that and no others,
// asks nobody, and what it says is hidden and leaves with the next compaction.
//
// # Offered tools
//
// A message may offer tools that its sender runs itself. They are part of the
// entry that the message becomes, so the turn knows them as long as it lives,
// and the model sees them beside the agent's own, the same in every run. A call
// of one is judged by no policy, as nothing happens here. Once every other call
// of the step has its result, those that are left are handed out: in one commit
// they are marked running, [chela.EventToolOffered] is told of each, and the
// turn waits without a lane, as it does for a person. A process that dies
// changes nothing about that.
//
// What ends the wait is not a run. Each of these is a change of its own, made
// by whoever holds the lock on the lane:
//
//	Bring       results come: once no call is open the turn is ready to run
//	Supersede   a message without results comes: the turn ends as interrupted,
//	            its calls skipped, and the message opens a turn of its own,
//	            with its own offers, model and place for the answer
//	Expire      nobody brought them: the turn ends as interrupted, its calls
//	            failed. It does not go on, as nobody is there to read it
//
// A wish to stop makes the turn ready, and its run ends it.
//
// # When the process dies
//
// Nothing special: the next run folds what was appended and goes on. A call
// that was marked running is decided by what its tool declares: repeated with
// the same key, asked about, or reported to the model as unknown. It is never
// simply repeated. A turn in which [machine.MaxCrashes] processes died is failed,
// and so is one that is given up ([machine.State.GivenUp]).
//
// # When the process is to end
//
// A run that is parked ends at its next commit: a tool that runs is waited for,
// and what came of it is appended. The model is not waited for, as asking again
// does no harm but cost.
//
// # When the journal fails
//
// An append that fails ends the run with its error; what was in memory is
// dropped. Whoever owns the lane reads the journal and begins another run, or
// gives up and leaves the turn for the next start.
package turn
