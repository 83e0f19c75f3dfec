import { useState } from "react";
import {
  PAST_TARGET_FORM,
  type PastTarget,
  parsePastTarget,
} from "../../cli/frame/command-line/past-target.ts";
import type { ConsoleApp } from "../console-app.ts";
import { createRow } from "../theme/Row.tsx";
import { openComparison } from "./Comparison.tsx";
import { OverlayFrame, useField, useKeys, useOverlay } from "./OverlayFrame.tsx";

const MAX_COLUMNS = 76;

interface PromptProps {
  title: string;
  /** Describes the text to type. */
  note: string;
  start?: string;
  /** What Enter does, in a word. */
  verb: string;
  /** @returns why the text cannot be used: the prompt then stays open; or what to open in its place */
  onSubmit(text: string): string | (() => void) | undefined;
}

/** Asks for a text. */
export function Prompt({ title, note, start, verb, onSubmit }: PromptProps) {
  const { width, close } = useOverlay(MAX_COLUMNS);
  const field = useField(start);
  const [fault, setFault] = useState<string>();
  const submit = () => {
    const found = onSubmit(field.text);
    if (typeof found === "string") return setFault(found);
    close();
    found?.();
  };
  useKeys({ enter: submit }, (_, event) => field.edit(event) && setFault(undefined));
  return (
    <OverlayFrame
      title={title}
      rows={[
        createRow(note, "quiet"),
        { cells: field.buildCells(width) },
        ...(fault === undefined ? [] : [createRow(fault, "problem")]),
      ]}
      hints={[["Enter", verb]]}
      escape="cancel"
      width={width}
    />
  );
}

/** Shows the state of etcd at a time that the user has typed. */
export function travelTo(app: ConsoleApp, text: string): void {
  const found = startTravel(app, text);
  if (typeof found === "string") app.showToast(found, "problem");
  else found?.();
}

/** @returns why the text is not a time, or what opens the comparison of two */
function startTravel(app: ConsoleApp, text: string): string | (() => void) | undefined {
  if (text.includes("..")) return prepareComparison(app, text);
  const target = parsePastTarget(text, app.getPresentTime());
  if ("fault" in target) return target.fault;
  app.travel.go(target);
  return undefined;
}

/** Compares the states of two times: `03:00..04:00`, or `03:00..` with now. @returns why a text is not a time */
function prepareComparison(app: ConsoleApp, text: string): string | (() => void) {
  const now = app.getPresentTime();
  const [from = "", until = ""] = text.split("..").map((part) => part.trim());
  const targets = [from, until === "" ? "now" : until].map((part) => parsePastTarget(part, now));
  for (const target of targets) if ("fault" in target) return target.fault;
  const [first, second] = targets as [PastTarget, PastTarget];
  return () => openComparison(app, first, second);
}

/** Asks for a time, and shows the state of etcd then. Stays open until the text is a time. */
export function TravelPrompt() {
  const { app } = useOverlay();
  return (
    <Prompt
      title="show a past time"
      note={`${PAST_TARGET_FORM} (UTC); 03:00..04:00 compares two, 03:00.. with now`}
      verb="go"
      onSubmit={(text) => startTravel(app, text)}
    />
  );
}
