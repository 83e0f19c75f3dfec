import { PAST_TARGET_FORM, parsePastTarget } from "../data/parse-target.ts";
import type {
  ChangeNotifier,
  ClockAccess,
  OverlayAccess,
  ToastAccess,
  TravelAccess,
} from "../parts/parts.ts";
import { openPrompt } from "./prompt.ts";

/** Asks for a time, and shows the console as it was then. */
export function openTravelPrompt(app: ChangeNotifier & ClockAccess & OverlayAccess & TravelAccess): void {
  openPrompt(app, {
    title: "show a past time",
    help: `${PAST_TARGET_FORM} (UTC)`,
    verb: "go",
    onSubmit: (text) => startTravel(app, text),
  });
}

/** Shows the console as it was at a time, as typed. */
export function travelTo(app: ClockAccess & ToastAccess & TravelAccess, text: string): void {
  const fault = startTravel(app, text);
  if (fault !== undefined) app.showToast(fault, "problem");
}

/** @returns why the text is no time */
function startTravel(app: ClockAccess & TravelAccess, text: string): string | undefined {
  const target = parsePastTarget(text, app.getPresentTime());
  if ("fault" in target) return target.fault;
  app.travel.go(target);
  return undefined;
}
