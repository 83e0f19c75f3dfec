import { describe, expect, it } from "vitest";
import { ScreenLog } from "../../../src/console/data/screen-log.ts";
import { buildSafely } from "../../../src/console/panes/Screen.tsx";
import { joinCellTexts } from "../../../src/console/theme/cells.ts";
import { getTheme, type Theme } from "../../../src/console/theme/theme.ts";

function appOf(): { log: ScreenLog; theme: Theme } {
  return {
    log: new ScreenLog(
      () => 0,
      () => {},
    ),
    theme: getTheme("mono", "16", false),
  };
}

describe("a part of the screen that fails", () => {
  it("says so in its place, without what a terminal would obey, and where in the log", () => {
    const app = appOf();
    const fail = (): string => {
      throw new TypeError("no such \x1b[2Jrow");
    };
    const text = buildSafely(app, fail, ({ cells }) => joinCellTexts(cells));
    expect(text).toContain("this part failed, a defect of signalbox: TypeError: no such row");
    expect(app.log.lines.join("\n")).toMatch(/a part of the screen failed: TypeError.*build-safely\.test/);
  });

  it("leaves others as they are", () => {
    const app = appOf();
    expect(
      buildSafely(
        app,
        () => ["row"],
        () => [],
      ),
    ).toEqual(["row"]);
    expect(app.log.lines).toEqual([]);
  });
});
