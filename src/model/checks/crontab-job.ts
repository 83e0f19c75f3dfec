import type { MacroFacts } from "../../fleet/macros.ts";

/** A crontab job, as far as its line can be parsed without running it. Durations in ms. */
export interface CrontabJob {
  /** File and line: `/etc/cron.d/jobs:12`. */
  where: string;
  tool: "signalbox" | "switchman";
  /** Undefined: the job takes no lock, or the shell computes its name. */
  lock: { name: string; isNamed: boolean } | undefined;
  group: string | undefined;
  /** As in `--lease`. */
  leases: readonly string[];
  ttl: number;
  grace: number | undefined;
  command: readonly string[];
  /** The host that the line runs on, as configured here. */
  here: MacroFacts;
  /** Whether it uses another prefix or another etcd, whose configuration is not known. */
  isElsewhere: boolean;
}
