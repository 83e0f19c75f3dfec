import { wrapProseLines } from "../../../commands/see/detail.ts";
import type { CommandPreview } from "../../actions/commands/preview.ts";
import { createRow, type RowModel } from "../../theme/cells.ts";
import type { StyleRole } from "../../theme/roles.ts";
import type { Theme } from "../../theme/theme.ts";

/** Durations that change as time passes: `12m4s`. */
const DURATION = /\b(?:\d+(?:ms|d|h|m|s))+\b/g;
/** The count at the end of a shortened list. Its own line shows when the list grows. */
const MORE = / and \d+ more$/;

/**
 * Builds the rows of a preview. `+` marks a line that the first preview did not have, `-` a line that it had and
 * that is gone.
 * @param base  the preview that was shown first
 */
export function buildChangedRows(
  { messages, outcome }: CommandPreview,
  base: CommandPreview | undefined,
  theme: Theme,
  width: number,
): RowModel[] {
  const now = new Set(messages.map(maskDurations));
  const then = new Set((base?.messages ?? messages).map(maskDurations));
  const plain: StyleRole = outcome === "failed" ? "problem" : "plain";
  const gone = (base?.messages ?? []).filter((text) => !now.has(maskDurations(text)) && !MORE.test(text));
  const isSame = gone.length === 0 && messages.every((text) => then.has(maskDurations(text)));
  const wrap = (text: string, sign: string, role: StyleRole) =>
    wrapProseLines([text], theme.createLook(width - (isSame ? 0 : 2))).map((line, at) =>
      createRow(isSame ? line : `${at === 0 ? sign : " "} ${line}`, role),
    );
  return [
    ...messages.flatMap((text) =>
      then.has(maskDurations(text)) ? wrap(text, " ", plain) : wrap(text, "+", "match"),
    ),
    ...gone.flatMap((text) => wrap(text, "-", "quiet")),
  ];
}

function maskDurations(text: string): string {
  return text.replaceAll(DURATION, "~");
}
