import { clean } from "../../../base/text.ts";
import { listWaitChains } from "../../../model/insight/waits.ts";
import { formatWaitChain } from "../../../model/insight/waits-text.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import { readSnapshotRanges } from "../../read-snapshot.ts";

export const execute = createReadCommand(async ({ flags }, io, context) => {
  const snapshot = await readSnapshotRanges(context, ["locks", "resources"]);
  const chains = listWaitChains(snapshot);
  if (flags.json) return void io.writeOutput(formatJsonDocument({ revision: snapshot.revision, chains }));
  const wall = context.clock.getWallTime();
  const parts = chains.map((chain) =>
    formatWaitChain(chain, wall)
      .map(({ text }) => `${clean(text)}\n`)
      .join(""),
  );
  io.writeOutput(parts.length === 0 ? "no run waits\n" : parts.join("\n"));
});
