import fc from "fast-check";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** Time zones with unusual clock changes. */
export const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Antarctica/Troll",
  "Pacific/Apia",
  "Europe/Dublin",
  "Africa/Casablanca",
  "Africa/Cairo",
  "Asia/Gaza",
  "America/Havana",
  "Asia/Kathmandu",
  "America/St_Johns",
  "America/Nuuk",
  "Pacific/Chatham",
  "America/Santiago",
  "Asia/Beirut",
  "Asia/Tehran",
];

/** A field of numbers, ranges, lists and steps. */
function field(least: number, most: number, isOften: boolean): fc.Arbitrary<string> {
  const number = fc.integer({ min: least, max: most });
  const ends = fc.tuple(number, number).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  const step = fc.integer({ min: 1, max: Math.min(most, 20) });
  const range = ends.map(([from, to]) => `${from}-${to}`);
  const part = fc.oneof(
    number.map(String),
    range,
    fc.tuple(range, step).map(([text, by]) => `${text}/${by}`),
  );
  const list = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(","));
  return fc.oneof(
    { weight: isOften ? 5 : 1, arbitrary: fc.constant("*") },
    { weight: 1, arbitrary: step.map((by) => `*/${Math.min(by, most)}`) },
    { weight: 2, arbitrary: number.map(String) },
    { weight: 2, arbitrary: list },
  );
}

const weekday = fc.oneof(
  { weight: 6, arbitrary: field(0, 6, true) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "mon-fri",
      "sun",
      "fri-sun",
      "SAT,sun",
      "7",
      "5-7",
      "1#2",
      "5#5",
      "0L",
      "fri#1",
      "1#4,3#2",
      "fri#L,2#1",
    ),
  },
);
const day = fc.oneof(
  { weight: 6, arbitrary: field(1, 28, true) },
  { weight: 1, arbitrary: fc.constantFrom("L", "31", "15,L", "30", "*/31", "15W", "LW", "1W,20") },
);

/** Cron texts that come to pass, several times in 30 years. */
export const cronText = fc
  .tuple(field(0, 59, true), field(0, 23, true), day, field(1, 12, true), weekday)
  .filter(([, , date, month, days]) => !isRare(date, month, days))
  .map((fields) => fields.join(" "));

/** Dates that many months do not have, and two stepped days that hardly ever meet. */
function isRare(date: string, month: string, days: string): boolean {
  const isBoth = (date.startsWith("*/") && days !== "*") || (days.startsWith("*/") && date !== "*");
  if (isBoth && /[#LW]/.test(`${date} ${days}`)) return true;
  return month !== "*" && (isBoth || /^3/.test(date) || days.includes("#"));
}
