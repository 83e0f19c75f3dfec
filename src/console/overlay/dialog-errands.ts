import { clean } from "../../base/text.ts";
import type { Errand } from "../act/carry-out.ts";
import { hasFlag, type Preview } from "../act/preview.ts";
import { whyNot } from "../act/why-not.ts";
import type { App } from "../app/app.ts";
import type { Form } from "../form/form.ts";
import { lineOf, wordsOf } from "../form/words.ts";
import type { DialogView } from "./dialog-picture.ts";

/** Why a dialog cannot be carried out as it stands; undefined where it can. @param typed  what was typed to confirm */
export function obstacleOf(app: App, dialog: DialogView, typed: string): string | undefined {
  const { previews, word, incomplete, isReading } = dialog;
  if (incomplete !== undefined) return incomplete;
  if (isReading) return undefined;
  const obstacle = whyNot(app);
  if (obstacle !== undefined) return obstacle;
  if (previews === undefined) return "wait for the preview: it says what will happen";
  if (previews.some(({ outcome }) => outcome === "failed" || outcome === "changed"))
    return "it cannot be done so: see above";
  if (word !== undefined && typed !== word) return `type ${clean(word, 60)} to confirm`;
  return dialog.isReady ? undefined : "it has only just said what will happen: read it, then press Enter";
}

/** A command line, bound to what its preview has shown: if anything has moved since, nothing is done. */
export function errandOf(form: Form, target: string, preview: Preview | undefined): Errand {
  const { spec } = form;
  const revision = preview?.revision;
  const isBound = revision !== undefined && hasFlag(spec, "expect-revision");
  const flags = [
    ...(isBound ? ["--expect-revision", revision] : []),
    ...(hasFlag(spec, "yes") ? ["--yes"] : []),
  ];
  return {
    ...{ command: spec, words: [...flags, ...wordsOf(form)], line: lineOf(form, flags) },
    title: `${spec.id} ${clean(target, 80)}`.trim(),
  };
}
