import { computeDisplayWidth } from "../../base/display-width.ts";

/** The usage text, printed for invalid lines. */
export const USAGE = `Usage: perfectsched [options] <command>

commands:
    list                             Show the schedules there are
    add <key> <type> <cron> <data>   Add a schedule
    delete <key>                     Delete a schedule
    run <class>                      Run a worker: <class> is a file of handlers
    init                             Check that etcd can be used

options:
    -e, --environment ENV            Part of the configuration file (default: RAILS_ENV, or development)
    -c, --config PATH.yml            Configuration file (default: config/perfectsched.yml)

options for add:
    -d, --delay SEC                  Time between a scheduled time and its run (default: 0)
    -t, --timezone NAME              Time zone (default: the configuration's, or UTC)
    -s, --start UNIXTIME             First scheduled time (default: now)
    -a, --at UNIXTIME                Time of the first run (default: start+delay)

options for run:
    -I, --include PATH               Look for files there, too
    -r, --require PATH               File of handlers; Ruby files are passed over
`;

/** Widths of all columns but the last. */
const WIDTHS = [30, 15, 18, 7, 11, 28, 28];

/** Formats a line of the tool's table. Columns are right-aligned; the last one is left-aligned after two spaces. */
export function formatTableLine(cells: readonly string[]): string {
  const columns = WIDTHS.map((width, at) => {
    const cell = cells[at] ?? "";
    return " ".repeat(Math.max(0, width - computeDisplayWidth(cell))) + cell;
  });
  return `${columns.join(" ")}  ${cells[WIDTHS.length] ?? ""}\n`;
}
