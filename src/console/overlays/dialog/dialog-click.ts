import type { OverlayModel } from "../../parts/overlay.ts";
import type { RowModel } from "../../theme/cells.ts";

/** Returns the id of the field on a line of a dialog as it was shown; `confirm` for the confirmation. */
export function findFieldAt(
  { fields, active }: { fields: readonly { id: string }[]; active: string },
  { content }: OverlayModel,
  line: number,
): string | undefined {
  if (content.kind !== "dialog") return undefined;
  const at = line - content.preview.length - 1;
  if (at >= 0 && at < content.fields.length) {
    // A long form shows only the fields around the active one, so the active one tells which these are.
    const index = fields.findIndex(({ id }) => id === active);
    const shown = content.fields.findIndex(isActive);
    return fields[at + (shown < 0 ? 0 : index - shown)]?.id;
  }
  const first = content.fields.length + 2; // a blank line and the command line
  return at >= first && at < first + content.confirmation.length ? "confirm" : undefined;
}

function isActive({ cells: [sign] }: RowModel): boolean {
  return sign?.text === ">";
}
