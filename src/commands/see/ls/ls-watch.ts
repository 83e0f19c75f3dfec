import { EXIT } from "../../../base/errors.ts";
import type { AnyView } from "../../../model/views/view.ts";
import type { Call, CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { type LiveRows, LiveRowsFollower } from "./live-rows.ts";
import { JsonLineOutput } from "./ls-json-lines.ts";
import { LiveTable } from "./ls-live.ts";
import type { ListOptions } from "./ls-options.ts";

/** Shows rows until the output is closed. */
interface LiveOutput<R> {
  /** @returns false once the output is closed */
  update(sight: LiveRows<R>): boolean;
  end(): void;
}

/**
 * Time between two updates, in ms: four repaints a second are enough for people, and do not overload a slow connection.
 */
const REPAINT_INTERVAL = 250;

/**
 * Shows a view while it changes: a table on a terminal, JSON lines on a pipe and on a dumb terminal. Ends when the reader closes the output.
 */
export async function watchView<R extends object>(
  call: Call,
  io: CommandIo,
  context: CommandContext,
  view: AnyView<R>,
  options: ListOptions,
): Promise<number> {
  const isLive = io.terminal.isOutput() && io.env.TERM !== "dumb" && !call.flags.json;
  const follower = new LiveRowsFollower(context, view, options);
  await follower.begin();
  const show: LiveOutput<R> = isLive
    ? new LiveTable(call, io, context, view, options)
    : new JsonLineOutput(io, context, view);
  try {
    for (;;) {
      if (!show.update(follower.getLiveRows())) return EXIT.ok;
      await context.clock.sleep(REPAINT_INTERVAL, context.signal);
    }
  } finally {
    show.end();
    follower.end();
  }
}
