import { describe, expect, it } from "vitest";
import { buildTabsModel, findTabAt, type TabsModel } from "../../../src/console/panes/Tabs.tsx";
import { createInitialState, TABS, type TabId } from "../../../src/console/state/console-state.ts";
import { getTheme } from "../../../src/console/theme/theme.ts";

type TabsInputs = Parameters<typeof buildTabsModel>[0];

function createInputs(tab: TabId): TabsInputs {
  const state = { ...createInitialState(), tab };
  const getTabCounts = () => ({ locks: 42, problems: 1 });
  return { state, theme: getTheme("mono", "16", true), getTabCounts } as unknown as TabsInputs;
}

function formatTabs({ start, separator, tabs, end }: TabsModel): string {
  return start + tabs.map(({ text }) => text).join(separator) + end;
}

describe("the tabs", () => {
  it("have counts, as far as they are known", () => {
    expect(formatTabs(buildTabsModel(createInputs("locks"), 200))).toMatch(
      /^ Locks 42 \| Resources \| .*Problems 1$/,
    );
  });

  it.each([...TABS])("that fit are those around %s", (tab) => {
    for (const width of [20, 40, 60, 90]) {
      const model = buildTabsModel(createInputs(tab), width);
      expect(formatTabs(model).length).toBeLessThanOrEqual(width);
      expect(model.tabs.map(({ id }) => id)).toContain(tab);
      expect(model.start === " ").toBe(model.tabs[0]?.id === "locks");
    }
  });

  it("leave out counts first, then the lines between them, then tabs, whose number they tell", () => {
    const show = (width: number) => formatTabs(buildTabsModel(createInputs("hosts"), width));
    expect(show(200)).toMatch(/^ Locks 42 \| .* \| Problems 1$/);
    expect(show(97)).toMatch(/^ Locks \| .* \| Problems 1$/);
    expect(show(90)).toMatch(/^ Locks {2}Resources .* {2}Problems 1$/);
    expect(show(80)).toBe(" Locks | Resources | Queues | Hosts | Groups | Drains | Schedules | History +2");
    expect(show(20)).toMatch(/^\d\+ .*Hosts \+6$/);
  });

  it("are found at the columns of their letters", () => {
    const app = createInputs("hosts");
    const text = formatTabs(buildTabsModel(app, 60));
    const at = text.indexOf("Hosts");
    expect(findTabAt(app, 60, at)).toBe("hosts");
    expect(findTabAt(app, 60, at + 4)).toBe("hosts");
    expect(findTabAt(app, 60, at + 5)).toBeUndefined();
  });
});
