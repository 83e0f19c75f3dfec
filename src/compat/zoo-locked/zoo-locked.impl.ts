import { lookup } from "node:dns/promises";
import { setTimeout } from "node:timers/promises";
import {
  createCall,
  executeRun,
  type RunRefusal,
  type RunResult,
} from "../../cli/commands/run/execute-run.ts";
import type { CommandExecutor, CommandIo } from "../../cli/frame/command.ts";
import { explainError } from "../../cli/frame/command-line/execute-command.ts";
import { EXIT } from "../../core/base/errors.ts";
import { clean, collectTexts } from "../../core/base/text.ts";
import { createValueLayer } from "../../core/config/layers.ts";
import { findBackgroundInText } from "../background-process.ts";
import { hasEndpoints } from "../front-end.ts";
import {
  createZooKeeperHostsError,
  formatIgnoredWords,
  parseZooLockedOptions,
  type ZooLockedOptions,
} from "./options.ts";
import { INVALID_EXIT_CODE } from "./zoo-locked.ts";

/** ENOENT, the exit code if a host's name does not resolve. */
const UNKNOWN_HOST = 2;

export const execute: CommandExecutor = async ({ args }, io) => {
  let wasTold = false;
  let hosts: string | undefined;
  const writeMessage = (message: string) =>
    io.writeError(`zoo-locked: ${clean(message.replace(/^zoo-locked: /, ""))}\n`);
  const stop = io.onSignal(() => {
    wasTold = true;
  });
  try {
    const parsed = parseZooLockedOptions(args);
    hosts = parsed.endpoints;
    if (hosts === undefined && !hasEndpoints(io.env)) throw createZooKeeperHostsError(args[0] ?? "");
    for (const warning of buildWarnings(parsed)) writeMessage(warning);
    const request = {
      call: createCall({ lock: [parsed.lock] }, parsed.command),
      options: createValueLayer(hosts === undefined ? {} : { endpoints: { value: hosts, source: "HOSTS" } }),
    };
    return reportResult(await executeRun(request, io), wasTold, io);
  } catch (error) {
    const { exitCode, message } = explainError(error);
    writeMessage(message);
    if (exitCode === EXIT.unreachable && hosts !== undefined && (await hasUnknownHost(hosts)))
      return UNKNOWN_HOST;
    return toExitCode(exitCode);
  } finally {
    stop();
  }
};

/** Lists warnings about effects that the user may not expect. */
function buildWarnings(parsed: ZooLockedOptions): string[] {
  const left = findBackgroundInText(parsed.command[2] ?? "");
  return collectTexts([
    formatIgnoredWords(parsed),
    left?.inheritsFiles &&
      `${left.what} continues in the background; unlike with zoo-locked, the lock is free before it ends`,
  ]);
}

/** @param wasTold  whether this process received a signal */
function reportResult(result: RunResult, wasTold: boolean, io: CommandIo): number {
  if (result.kind === "refused") {
    io.writeOutput(`LOCKED by ${clean(describeHolder(result.refusal))}\n`);
    return EXIT.ok;
  }
  if (result.kind === "interrupted" || result.exit.code !== undefined) return result.code;
  // zoo-locked reads no exit code from a command that was ended by a signal. It does not report a lost lock, and
  // would not have survived a signal to itself.
  return result.ending !== undefined || wasTold ? result.code : EXIT.ok;
}

function describeHolder(refusal: RunRefusal): string {
  switch (refusal.kind) {
    case "busy": {
      const { run, ticket } = refusal.holder ?? { run: "?", ticket: undefined };
      return ticket === undefined ? `run ${run}` : `${ticket.host} pid ${ticket.pid} (run ${run})`;
    }
    case "drained":
      return `a drain of ${refusal.drains.map(({ scope, name, by }) => `${scope} ${name} (by ${by})`).join(", ")}`;
    case "outside":
      return `group ${refusal.group}, which does not hold this host`;
    default:
      return "no run any more: the session expired while waiting";
  }
}

/**
 * Converts exit codes to those of zoo-locked. According to its source, it ends with 0 if it cannot reach the server,
 * and does not check whether a line was printed.
 */
function toExitCode(code: number): number {
  const passedOver: number[] = [EXIT.unreachable, EXIT.permission, EXIT.io];
  if (passedOver.includes(code)) return EXIT.ok;
  const isOfShell = code === EXIT.notFound || code === EXIT.notExecutable;
  return isOfShell || code === EXIT.internal ? code : INVALID_EXIT_CODE;
}

/**
 * Time limit for a lookup, ms. A slower lookup does not mean that the host is unknown: the name server may be
 * unreachable.
 */
const LONGEST_MS = 5_000;

/** Whether one of the addresses has a host that does not exist according to this host's resolver. */
async function hasUnknownHost(addresses: string): Promise<boolean> {
  const known = await Promise.all(addresses.split(",").map(getHostname).map(isKnown));
  return known.includes(false);
}

function getHostname(address: string): string {
  const url = address.includes("://") ? address.trim() : `http://${address.trim()}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}

async function isKnown(host: string): Promise<boolean> {
  const asked = lookup(host).then(
    () => true,
    () => false,
  );
  const timer = new AbortController();
  const late = setTimeout(LONGEST_MS, true, { signal: timer.signal, ref: false }).catch(() => true);
  try {
    return await Promise.race([asked, late]);
  } finally {
    timer.abort();
  }
}
