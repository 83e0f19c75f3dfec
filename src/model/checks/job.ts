import type { MacroFacts } from "../../fleet/macros.ts";

/** A job of a crontab, as far as its line can be understood without running it. Durations in ms. */
export interface Job {
  /** `/etc/cron.d/jobs:12`. */
  where: string;
  tool: "signalbox" | "switchman";
  /** Undefined: none is taken, or only the shell knows its name. */
  lock: { name: string; isNamed: boolean } | undefined;
  group: string | undefined;
  /** As in `--lease`. */
  leases: readonly string[];
  ttl: number;
  grace: number | undefined;
  command: readonly string[];
  /** The host that the line runs on, as it is configured here. */
  here: MacroFacts;
  /** It works under another prefix, or in another etcd: nothing is known of what is configured there. */
  isElsewhere: boolean;
}
