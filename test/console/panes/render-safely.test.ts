import { describe, expect, it } from "vitest";
import type { App } from "../../../src/console/app.ts";
import { ScreenLog } from "../../../src/console/data/screen-log.ts";
import { renderSafely } from "../../../src/console/panes/render-safely.ts";
import { getTheme } from "../../../src/console/theme/theme.ts";

function appOf(): Pick<App, "log" | "theme"> {
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
    const lines = renderSafely(app, () => {
      throw new TypeError("no such \x1b[2Jrow");
    });
    expect(lines.join("\n")).toContain("this part failed, which is a defect: TypeError: no such row");
    expect(app.log.lines.join("\n")).toMatch(/a part of the screen failed: TypeError.*render-safely\.test/);
  });

  it("leaves others as they are", () => {
    const app = appOf();
    expect(renderSafely(app, () => ["row"])).toEqual(["row"]);
    expect(app.log.lines).toEqual([]);
  });
});
