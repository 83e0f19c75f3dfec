/** A screen of the console that is stored in docs/screens/. */
export interface Shot {
  /** Name of its file, without the size. */
  name: string;
  size: readonly [columns: number, rows: number];
  args?: readonly string[];
  /** Keys to press, in this order. A text in quotes is typed. */
  keys?: readonly string[];
  /** Text on the complete screen, besides the revision. */
  shows: string | RegExp;
  env?: Readonly<Record<string, string>>;
  /** Whether events happen before the screen is taken. These screens are taken last, one after the other. */
  isEventful?: true;
  /** Whether it is also stored as a picture, for the README. */
  isPicture?: true;
}

const WIDE = [160, 50] as const;
const MIDDLE = [120, 40] as const;
const SMALL = [80, 24] as const;

/** The tabs, and a text on each complete screen. */
const TABS: Readonly<Record<string, string>> = {
  overview: "BUSIEST QUEUES",
  locks: "backup-db",
  resources: "connections to the primary",
  macros: "FQDN_mem",
  queues: "search-index",
  hosts: "mail1 ",
  groups: "databases",
  drains: "kernel upgrade",
  history: "invoices",
  schedules: "invoices.export",
  audit: "new disks",
  problems: "legacy-import",
};

const buildViewArgs = (tab: string) => ["--view", tab];

export const SHOTS: readonly Shot[] = [
  ...Object.entries(TABS).map(([tab, shows]): Shot => {
    const shot = { name: tab, size: WIDE, args: buildViewArgs(tab), shows };
    return tab === "locks" ? { ...shot, isEventful: true } : shot;
  }),
  {
    name: "overview",
    size: MIDDLE,
    args: buildViewArgs("overview"),
    shows: "LAST FAILURES",
    isPicture: true,
  },
  { name: "overview", size: SMALL, args: buildViewArgs("overview"), shows: "LAST FAILURES" },
  {
    name: "locks",
    size: MIDDLE,
    args: buildViewArgs("locks"),
    shows: "backup-db",
    isEventful: true,
    isPicture: true,
  },
  {
    name: "resources",
    size: MIDDLE,
    args: buildViewArgs("resources"),
    shows: "connections",
    isPicture: true,
  },
  {
    name: "schedules",
    size: MIDDLE,
    args: buildViewArgs("schedules"),
    keys: ["2", "g", "down", "down", "down"],
    shows: "schedule invoices.export: failed",
    isPicture: true,
  },
  {
    name: "why",
    size: MIDDLE,
    args: buildViewArgs("queues"),
    keys: ["enter"],
    shows: "why",
    isPicture: true,
  },
  {
    name: "drain",
    size: MIDDLE,
    args: buildViewArgs("locks"),
    keys: ["D"],
    shows: /Enter drain/,
    isPicture: true,
  },
  { name: "reset", size: MIDDLE, args: buildViewArgs("locks"), keys: ["X"], shows: /Enter reset/ },
  {
    name: "palette",
    size: MIDDLE,
    args: buildViewArgs("locks"),
    keys: [":", '"drain"'],
    shows: /undrain/,
    isPicture: true,
  },
  { name: "help", size: MIDDLE, args: buildViewArgs("locks"), keys: ["?"], shows: /previousTab/ },
  {
    name: "filter",
    size: MIDDLE,
    args: buildViewArgs("locks"),
    keys: ["/", '"host:batch"', "enter"],
    shows: /filter host:batch: \d+ of/,
  },
  { name: "macros", size: MIDDLE, args: buildViewArgs("macros"), shows: "FQDN_mem", isPicture: true },
  { name: "macros", size: SMALL, args: buildViewArgs("macros"), shows: "FQDN_mem" },
  {
    name: "timeline",
    size: MIDDLE,
    args: buildViewArgs("locks"),
    keys: ["t"],
    shows: /timeline lock backup-db/,
    isPicture: true,
  },
  {
    name: "what-if",
    size: MIDDLE,
    args: buildViewArgs("locks"),
    keys: ["i"],
    shows: /what if/i,
    isPicture: true,
  },
  {
    name: "menu",
    size: MIDDLE,
    args: buildViewArgs("locks"),
    keys: ["."],
    shows: /Copy the name/,
    isPicture: true,
  },
  { name: "columns", size: MIDDLE, args: buildViewArgs("locks"), keys: ["o"], shows: /TREND/ },
  { name: "raw", size: MIDDLE, args: buildViewArgs("locks"), keys: ["V"], shows: /raw lock backup-db/ },
  {
    name: "light",
    size: MIDDLE,
    args: [...buildViewArgs("locks"), "--theme", "light"],
    shows: "backup-db",
    isPicture: true,
  },
  {
    name: "contrast",
    size: MIDDLE,
    args: [...buildViewArgs("resources"), "--theme", "contrast"],
    shows: "connections",
    isPicture: true,
  },
  { name: "locks", size: [200, 55], args: buildViewArgs("locks"), shows: "backup-db" },
  { name: "mono", size: MIDDLE, args: buildViewArgs("locks"), shows: "backup-db", env: { NO_COLOR: "1" } },
  { name: "ascii", size: MIDDLE, args: [...buildViewArgs("locks"), "--ascii"], shows: "backup-db" },
  { name: "locks", size: SMALL, args: buildViewArgs("locks"), shows: "backup-db" },
  { name: "queues", size: SMALL, args: buildViewArgs("queues"), shows: "video-transcode" },
  { name: "drain", size: SMALL, args: buildViewArgs("locks"), keys: ["D"], shows: /Enter drain/ },
  { name: "tiny", size: [40, 10], args: buildViewArgs("locks"), shows: /\S/ },
];
