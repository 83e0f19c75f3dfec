import { EXIT } from "../../../core/base/errors.ts";
import { clean } from "../../../core/base/text.ts";
import { type ClaimPreview, previewClaim } from "../../../core/run/preview.ts";
import type { RunPorts, RunRequest } from "../../../core/run/request.ts";
import type { Call, CommandIo } from "../../frame/command.ts";
import { formatJsonDocument } from "../../frame/json-output.ts";
import type { RunFlags } from "./run.ts";

/**
 * Implements `signalbox run --dry-run`.
 * @returns 0 if the run would be granted or would wait, otherwise the busy exit code
 */
export async function printRunPreview(
  ports: RunPorts,
  request: RunRequest,
  call: Call<RunFlags>,
  io: CommandIo,
): Promise<number> {
  const found = await previewClaim(ports, request);
  const { locks, group, identity } = request;
  const document = { host: identity.host, lock: locks[0], locks, group, ...found };
  io.writeOutput(call.flags.json ? formatJsonDocument(document) : renderText(request, found));
  return found.verdict === "refused" ? request.busyExitCode : EXIT.ok;
}

function renderText(
  { locks, group, identity }: RunRequest,
  { conditions, leases, verdict, obstacles }: ClaimPreview,
): string {
  const now = { granted: "would be granted at once", waits: "would wait", refused: "would give up" };
  const lines = [
    ["host", identity.host],
    ...(locks.length === 0 ? ["(none)"] : locks).map((lock) => ["lock", lock]),
    ...(group === undefined ? [] : [["group", group]]),
    ...conditions.map(({ condition, values }) => [
      "if",
      values === "" ? condition : `${condition} (${values})`,
    ]),
    ...leases.map(({ resource, count, total, free }) => [
      "lease",
      `${resource}: ${count} of ${total}, ${free} neither held nor waited for`,
    ]),
    ["now", now[verdict]],
    ...obstacles.map((obstacle) => ["because", obstacle]),
  ];
  return lines.map(([name = "", value = ""]) => `${name.padEnd(8)} ${clean(value)}\n`).join("");
}
