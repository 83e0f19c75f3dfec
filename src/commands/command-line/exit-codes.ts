import { EXIT } from "../../base/errors.ts";

/** The exit codes and their meanings, for the manual: those of `run` and of all other commands. */
export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ["0–255", "of run: the command's own code; 128+n if signal n ended it"],
  [String(EXIT.ok), "done; also: there was nothing to do"],
  [
    String(EXIT.undone),
    "nothing was done: declined, unknown name, or --strict and nothing to do. Of checks: a warning",
  ],
  ["2", "of checks: something is critical"],
  [String(EXIT.usage), "the command line is wrong, or confirmation needs a terminal or --yes"],
  [String(EXIT.unreachable), "cannot reach etcd, or it accepts no writes; nothing was started"],
  [String(EXIT.internal), "a defect of signalbox"],
  [String(EXIT.io), "a file cannot be read, or standard output cannot be written"],
  [
    String(EXIT.busy),
    "busy: the lock is held, drained, not for this host, or the wait timed out (run -E sets another code). Of commands that change something: the state changed since it was shown, nothing was done",
  ],
  [String(EXIT.permission), "etcd refused the credentials or the permission, or readOnly is set"],
  [String(EXIT.config), "the configuration is wrong, here or in etcd"],
  [
    String(EXIT.timeout),
    "a timeout: of run, its command was terminated; of drain and reset, some runs have not ended",
  ],
  [
    String(EXIT.lost),
    "of run: the claim was lost (reset, network, group) and its command terminated, or its guardian was killed before the command started",
  ],
  [`${EXIT.notExecutable}, ${EXIT.notFound}`, "of run: the command cannot be executed, or was not found"],
  ["128+n", "ended by signal n, such as 130 by Ctrl+C; requests already sent stay in effect"],
];
