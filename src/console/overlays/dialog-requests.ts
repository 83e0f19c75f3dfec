import { cleanToWidth } from "../../base/display-width.ts";
import type { JobRequest } from "../data/jobs.ts";
import { findChangeObstacle, findPastObstacle } from "../parts/change-obstacle.ts";
import type { DataAccess, SettingsAccess } from "../parts/parts.ts";
import { type CommandPreview, hasFlag } from "../parts/preview.ts";
import { formatFormCommand, toCommandWords } from "./command-words.ts";
import type { Form } from "./dialog-form.ts";
import type { DialogView } from "./dialog-model.ts";

/**
 * Returns why a dialog cannot be confirmed now, or undefined if it can. @param typed  what the user typed to confirm
 */
export function findDialogObstacle(
  app: DataAccess & SettingsAccess,
  dialog: DialogView,
  typed: string,
): string | undefined {
  const { previews, word, incomplete, isReading } = dialog;
  if (incomplete !== undefined) return incomplete;
  if (isReading) return findPastObstacle(app);
  const obstacle = findChangeObstacle(app);
  if (obstacle !== undefined) return obstacle;
  if (previews === undefined) return "wait for the preview of what will happen";
  if (previews.some(({ outcome }) => outcome === "failed" || outcome === "changed"))
    return "not possible with these values: see above";
  if (word !== undefined && typed !== word) return `type ${cleanToWidth(word, 60)} to confirm`;
  return dialog.isReady ? undefined : "the preview has just changed: read it, then press Enter";
}

/**
 * Builds a job request that is bound to the revision of its preview: if the revision has changed since, the command
 * does nothing.
 */
export function createJobRequest(
  form: Form,
  {
    target,
    preview,
    reopen,
    more,
  }: {
    target: string;
    preview: CommandPreview | undefined;
    reopen: () => void;
    /** Further flags of the line to copy. */
    more: readonly string[];
  },
): JobRequest {
  const { spec } = form;
  const revision = preview?.revision;
  const isBound = revision !== undefined && hasFlag(spec, "expect-revision");
  const flags = [
    ...(isBound ? ["--expect-revision", revision] : []),
    ...(hasFlag(spec, "yes") ? ["--yes"] : []),
  ];
  return {
    command: spec,
    words: [...flags, ...toCommandWords(form)],
    line: formatFormCommand(form, [...flags, ...more]),
    title: `${spec.id} ${cleanToWidth(target, 80)}`.trim(),
    reopen,
  };
}
