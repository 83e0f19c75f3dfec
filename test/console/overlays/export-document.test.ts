/** What is shown, in each format. */
import { expect, it } from "vitest";
import {
  type ExportDocument,
  findExportFormat,
  formatExport,
  formatExportName,
  listExportFormats,
} from "../../../src/console/overlays/Export.tsx";

const TABLE: ExportDocument = {
  kind: "table",
  name: "locks",
  json: { view: "locks", revision: 5n, rows: [{ name: "a" }] },
  table: { title: "locks", columns: [{ id: "name", title: "NAME" }], rows: [["a"]] },
};
const DETAIL: ExportDocument = {
  kind: "detail",
  name: "a",
  detail: {
    heading: "lock a: held",
    tone: "held",
    facts: [{ label: "holder", value: "web1" }],
    sections: [],
  },
};
const TEXT: ExportDocument = {
  kind: "text",
  name: "why a",
  title: "why a",
  lines: ["one  ", "\u001b[1mtwo"],
};

it.each([
  [TABLE, "csv", "name\r\na\r\n"],
  [TABLE, "txt", "NAME\na\n"],
  [TABLE, "md", "# locks\n\n| NAME |\n| --- |\n| a |\n"],
  [TABLE, "json", '{"version":1,"view":"locks","revision":"5","rows":[{"name":"a"}]}\n'],
  [DETAIL, "md", "# lock a: held\n\n- **holder**: web1\n"],
  [DETAIL, "txt", "lock a: held\n  holder  web1\n"],
  [
    DETAIL,
    "json",
    '{"version":1,"heading":"lock a: held","facts":[{"label":"holder","value":"web1"}],"sections":[]}\n',
  ],
  [TEXT, "txt", "one\ntwo\n"],
  [TEXT, "md", "# why a\n\n```text\none\ntwo\n```\n"],
  [TEXT, "json", '{"version":1,"title":"why a","lines":["one","two"]}\n'],
] as const)("$kind as %s", (document, format, text) => {
  expect(listExportFormats(document)).toContain(format);
  expect(formatExport(document, format)).toBe(text);
});

it.each([
  ["a.csv", "csv"],
  ["a.MD", "md"],
  ["a.markdown", "md"],
  ["a.text", "txt"],
  ["a.b.json", "json"],
  ["a", undefined],
  ["a.xlsx", undefined],
] as const)("the format of %s is %s", (path, format) => {
  expect(findExportFormat(path)).toBe(format);
});

it.each([
  ["locks", "signalbox-locks-20261121-053102.csv"],
  ["../../etc/passwd", "signalbox-etc-passwd-20261121-053102.csv"],
  ["", "signalbox-export-20261121-053102.csv"],
  ["a b\u001b[2J", "signalbox-a-b-20261121-053102.csv"],
])("the name for %j is %s", (name, file) => {
  expect(formatExportName(name, "csv", Date.UTC(2026, 10, 21, 5, 31, 2))).toBe(file);
});
