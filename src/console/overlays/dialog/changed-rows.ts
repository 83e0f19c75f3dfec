import { wrapProseLines } from "../../../commands/see/detail.ts";
import type { CommandPreview } from "../../actions/commands/preview.ts";
import { createRow, type RowModel } from "../../theme/cells.ts";
import type { StyleRole } from "../../theme/roles.ts";
import type { Theme } from "../../theme/theme.ts";

/**
 * Builds the rows of a preview. `+` marks a line that the first preview did not have, `-` a line that it had and
 * that is gone.
 * @param base  the preview that was shown first
 */
export function buildChangedRows(
  { messages, messageKeys, outcome }: CommandPreview,
  base: CommandPreview | undefined,
  theme: Theme,
  width: number,
): RowModel[] {
  const now = new Set(messageKeys);
  const then = new Set(base?.messageKeys ?? messageKeys);
  const isNew = (at: number) => !then.has(messageKeys[at] ?? "");
  const plain: StyleRole = outcome === "failed" ? "problem" : "plain";
  const gone = base?.messages.filter((_, at) => !now.has(base.messageKeys[at] ?? "")) ?? [];
  const isSame = gone.length === 0 && messageKeys.every((key) => then.has(key));
  const wrap = (text: string, sign: string, role: StyleRole) =>
    wrapProseLines([text], theme.createLook(width - (isSame ? 0 : 2))).map((line, at) =>
      createRow(isSame ? line : `${at === 0 ? sign : " "} ${line}`, role),
    );
  return [
    ...messages.flatMap((text, at) => (isNew(at) ? wrap(text, "+", "match") : wrap(text, " ", plain))),
    ...gone.flatMap((text) => wrap(text, "-", "quiet")),
  ];
}
