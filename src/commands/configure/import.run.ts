import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { type ConfigChange, changesBetween } from "../../fleet/changes.ts";
import { asDocumented, type ConfigDocument } from "../../fleet/document.ts";
import { parseDocument } from "../../fleet/document-reader.ts";
import { configurationOf, malformedIn } from "../../model/configuring/configuration.ts";
import type { Picture } from "../../model/picture.ts";
import { pictureOf } from "../look.ts";
import type { Call, Surroundings } from "../spec.ts";
import { json } from "../table.ts";
import { type Desk, withStore } from "../with-store.ts";
import { IMPACT_ROOMS, totalCheck } from "./configured.ts";
import { Reconfiguration } from "./configuring.ts";
import { documentInput, faultLines } from "./document-input.ts";

export const execute = withStore(async (call, world, desk) => {
  const [file = "-"] = call.args;
  return await importing(call, world, desk, file, await documentInput(world, file));
});

/** Sets what a document says, after showing it. @returns the exit code */
export async function importing(
  call: Call,
  world: Surroundings,
  desk: Desk,
  file: string,
  text: string,
): Promise<number> {
  const picture = await pictureOf(desk, IMPACT_ROOMS);
  const document = parseDocument(text, totalCheck(desk, picture));
  if ("faults" in document) {
    const { faults } = document;
    if (call.flags.json) world.out(json({ revision: picture.revision, outcome: "faulty", faults }));
    else if (call.verbosity >= 0)
      for (const line of [...faultLines(file, faults), "nothing was changed"])
        world.err(`signalbox: ${clean(line)}\n`);
    return EXIT.config;
  }
  const changes = changesFor(picture, document.value, call.flags.replace === true);
  const nothing = "the configuration is so already: nothing to change";
  const draft = {
    action: "import",
    target: "configuration",
    picture,
    changes,
    nothing,
    isBulk: true,
  } as const;
  return (await new Reconfiguration(call, world, desk, draft).run()).code;
}

function changesFor(picture: Picture, document: ConfigDocument, replace: boolean): ConfigChange[] {
  const current = configurationOf(picture);
  const changes = changesBetween(current, asDocumented(current, document, replace));
  const isMentioned = { group: document.groups !== undefined, resource: document.resources !== undefined };
  const set = new Set(changes.map(({ kind, name }) => `${kind} ${name}`));
  const unreadable = malformedIn(picture).filter(
    ({ kind, name }) => replace && isMentioned[kind] && !set.has(`${kind} ${name}`),
  );
  return [...changes, ...unreadable.map(deletion)];
}

function deletion({ kind, name }: { kind: ConfigChange["kind"]; name: string }): ConfigChange {
  return kind === "group"
    ? { kind, name, before: [], after: undefined }
    : { kind, name, before: {}, after: undefined };
}
