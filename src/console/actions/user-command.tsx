import type { ConsoleApp } from "../console-app.ts";
import { OverlayFrame, useKeys, useOverlay } from "../overlays/OverlayFrame.tsx";
import { getChosenSubjects } from "../parts/marks.ts";
import { refuseForRow, showJobs } from "../parts/navigation.ts";
import { lendTo, loadPrograms } from "../parts/programs.ts";
import { isRefusedInPast } from "../parts/row-actions.ts";
import { wrapRows } from "../theme/Row.tsx";
import {
  type BuiltUserCommand,
  buildUserCommand,
  listUserCommands,
  type UserCommand,
} from "../user-commands.ts";

/** Runs a command of the user's own for the chosen row. @param id  that of its action: `user:TITLE` */
export function runUserCommand(app: ConsoleApp, id: string): void {
  const { settings } = app.context;
  const command = settings.userCommands.find(({ title }) => id === `user:${title}`);
  if (command === undefined) return;
  if (isRefusedInPast(app)) return;
  const [subject] = getChosenSubjects(app);
  const built = listUserCommands(settings, subject).includes(command)
    ? buildUserCommand(command, subject, { snapshot: app.liveView.snapshot, settings })
    : { reason: `${command.title}: not for this row` };
  if ("reason" in built) return refuseForRow(app, built.reason);
  if (command.confirm) app.overlays.open(<Confirmation command={command} built={built} />);
  else start(app, command, built);
}

interface ConfirmationProps {
  command: UserCommand;
  built: BuiltUserCommand;
}

/** Shows the command line that will run, and asks for Enter. */
function Confirmation({ command, built }: ConfirmationProps) {
  const { app, width, room, close } = useOverlay(90);
  const confirm = () => {
    close();
    start(app, command, built);
  };
  useKeys({ enter: confirm });
  return (
    <OverlayFrame
      title={command.title}
      rows={wrapRows(app.theme, [built.line], width).slice(0, room.height)}
      hints={[["Enter", "run"]]}
      escape="cancel"
      width={width}
    />
  );
}

function start(app: ConsoleApp, { title, in: place }: UserCommand, built: BuiltUserCommand): void {
  if (place === "foreground")
    return void lendTo(app, async () => (await loadPrograms()).runOnTerminal(built, app.context.signal));
  const done = app.jobs.start({
    title,
    line: built.line,
    run: async (capture) => ({ exitCode: await (await loadPrograms()).runCaptured(built, capture) }),
  });
  showJobs(app);
  void done.then(({ code, lines }) =>
    app.showToast(
      `${title}: ${code === 0 ? (lines.at(-1) ?? "done") : `exit ${code}`}`,
      code === 0 ? "held" : "problem",
    ),
  );
}
