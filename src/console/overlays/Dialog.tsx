import { useEffect, useLayoutEffect, useState } from "react";
import type { RowCommandId } from "../../cli/commands/registry.ts";
import { buildDetailLines } from "../../cli/commands/see/detail.ts";
import type { DetailTarget } from "../../cli/views/detail.ts";
import { mapAtMost } from "../../core/base/clock.ts";
import { EXIT } from "../../core/base/errors.ts";
import { followClaims } from "../../site/state/claims.ts";
import type { Remedy, Subject } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import { buildDetail } from "../data/detail-cache.ts";
import { AT_ONCE, type ConsoleJob, type JobRequest } from "../data/jobs.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { refuseForRow, showJobs } from "../parts/navigation.ts";
import {
  buildEditAction,
  buildRowAction,
  type CommandPreview,
  findChangeObstacle,
  findConfirmationWord,
  getCommandById,
  hasFlag,
  hasPreview,
  isRefusedInPast,
  type RowAction,
  type RowActionResult,
} from "../parts/row-actions.ts";
import { type RowModel, wrapRows } from "../theme/Row.tsx";
import {
  createForm,
  type Form,
  findFormFault,
  formatFormCommand,
  listArgumentValues,
  listContextWords,
  selectNextValue,
  setFieldValue,
  toCommandWords,
} from "./dialog-form.ts";
import { DialogPreview } from "./dialog-preview.ts";
import {
  buildDialogRows,
  CONFIRM_FIELD,
  createJobRequest,
  findDialogObstacle,
  LATE_HINT,
} from "./dialog-rows.ts";
import { createField, editField, type TextField } from "./field.ts";
import { OverlayFrame, useKeys, useOverlay } from "./OverlayFrame.tsx";
import { openJob, openOutput, TextView } from "./output.tsx";

/** The forms of a dialog, and their context. */
interface DialogProps {
  /** For example `drain host web1.example.com`. */
  title: string;
  /** One form for each item, all of the same command. Their fields are filled in together. */
  forms: readonly [Form, ...Form[]];
  /** Name of each item. */
  targets: readonly string[];
  /** The previews shown before a job was refused: the dialog marks what has changed since. */
  base?: readonly CommandPreview[] | undefined;
  /** Called when the confirmed commands have ended. */
  onDone?: ((jobs: readonly ConsoleJob[]) => void) | undefined;
}

/** Shows what a command would do, lets the user fill in its flags, asks for confirmation, and runs it. */
function Dialog({ title, forms: givenForms, targets, base, onDone }: DialogProps) {
  const { app, width, room, close } = useOverlay(100);
  const { spec } = givenForms[0];
  /** Whether the command only reads: Enter shows its output. */
  const isReading = !hasFlag(spec, "dry-run");
  const [state, setState] = useState<DialogState>(() => createDialogState(givenForms, isReading));
  const change = (part: Partial<DialogState>) => setState((known) => ({ ...known, ...part }));
  const { forms, typed, active } = state;
  const fields = listOpenFields(forms);
  const [preview] = useState(() => {
    const made = new DialogPreview(app, () =>
      setState((known) => ({
        ...known,
        typed: new Map(known.typed).set(CONFIRM_FIELD, createField()), // the typed confirmation was for other runs
        notice: "the runs to end have changed: read the preview again",
      })),
    );
    made.base = base;
    return made;
  });
  const requestPreviews = (of: readonly Form[], pause?: number) => {
    if (hasPreview(spec) && findFault(of) === undefined)
      preview.request({ command: spec, items: of.map(toCommandWords) }, pause);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first request; the others follow the keys
  useEffect(() => {
    requestPreviews(forms, 0);
    return () => preview.end();
  }, [preview]);
  useLayoutEffect(() => preview.onShown());
  /** Computes the current state of the previews. Enter calls this again, because previews can change between two frames. */
  const getStatus = () => {
    const { previews } = preview;
    const runs = followClaims(app.liveView.snapshot).keys();
    const word = findConfirmationWord(spec, forms.map(listArgumentValues), previews, runs);
    const isReady = isReading || preview.isRead;
    const status = {
      previews,
      word,
      incomplete: findFault(forms),
      isReading,
      isReady,
      isLate: preview.isLate,
    };
    return { ...status, obstacle: findDialogObstacle(app, status, typed.get(CONFIRM_FIELD)?.text ?? "") };
  };
  const status = getStatus();
  const { word, isReady, isLate } = status;

  const updateForms = (update: (form: Form) => Form, part: Partial<DialogState> = {}) => {
    const changed = forms.map(update);
    preview.base = undefined;
    requestPreviews(changed); // first: no frame may show the new values with the preview of the old ones
    change({ forms: changed, notice: undefined, refusal: undefined, ...part });
  };
  const moveFocus = (by: 1 | -1) => {
    const ids = [...fields.map(({ id }) => id), CONFIRM_FIELD];
    change({ active: ids[(ids.indexOf(active) + by + ids.length) % ids.length] ?? CONFIRM_FIELD });
  };
  const field = fields.find(({ id }) => id === active);
  const selectValue = (by: 1 | -1) => field && updateForms((form) => selectNextValue(form, field.id, by));
  const confirm = () => {
    const now = getStatus();
    change({ notice: undefined, refusal: now.obstacle });
    if (!now.isReady) preview.onEarlyKey();
    if (now.obstacle !== undefined) return;
    close();
    const [form = givenForms[0]] = forms;
    const words = toCommandWords(form);
    if (isReading) return openOutput(app, spec, words, [spec.id, ...words].join(" "));
    const requests = forms.map((one, at): JobRequest => {
      const target = targets[at] ?? "";
      const bound = preview.bound?.[at];
      const again = {
        title: forms.length === 1 ? title : `${spec.id} ${target}`,
        forms: [one],
        targets: [target],
        base: bound && [bound],
        onDone,
      } as const;
      // If the job is refused, the dialog opens again with all fields kept.
      const reopen = () => void app.overlays.open(<Dialog {...again} />);
      return createJobRequest(app, one, { target, preview: bound, reopen });
    });
    void runJobRequests(app, requests).then((jobs) => onDone?.(jobs));
  };
  const scroll = (by: number) => () => change({ top: Math.max(0, state.top + by) });
  const isText = field === undefined || field.kind === "text" || field.kind === "list";
  useKeys(
    {
      enter: confirm,
      tab: () => moveFocus(1),
      down: () => moveFocus(1),
      "shift+tab": () => moveFocus(-1),
      up: () => moveFocus(-1),
      pagedown: scroll(5),
      pageup: scroll(-5),
      "wheel-down": scroll(3),
      "wheel-up": scroll(-3),
      ...(!isText && {
        space: () => selectValue(1),
        left: () => selectValue(-1),
        right: () => selectValue(1),
      }),
    },
    (_, event) => {
      const text = typed.get(active);
      const next = text && editField(text, event);
      if (next === undefined) return;
      const part = { typed: new Map(typed).set(active, next), notice: undefined, refusal: undefined };
      if (active !== CONFIRM_FIELD)
        return updateForms((form) => setFieldValue(form, active, next.text), part);
      if (next.text === word) preview.onConfirmationTyped();
      change(part);
    },
  );
  const rows = buildDialogRows(
    {
      app,
      targets,
      ...state,
      fields,
      fault: state.notice ?? describeRefusal(state.refusal, status.obstacle),
      ...status,
      base: isReading ? undefined : preview.base,
      lines: forms.map((form) => formatFormCommand(form, listContextWords(app.context))),
    },
    width,
    room.height,
  );
  /** Focuses the field that is clicked. A click on a choice that has the focus selects its next value. */
  const pressRow = (at: number) => {
    const id = rows[at]?.field;
    if (id === undefined) return;
    if (id === active && !isText) selectValue(1);
    else change({ active: id });
  };
  return (
    <OverlayFrame
      title={title}
      rows={rows}
      hints={[
        fields.length > 0 && ["Tab", "next field"],
        isReady ? ["Enter", spec.id] : isLate && ["Enter", LATE_HINT],
      ]}
      escape="cancel"
      width={width}
      tone={word === undefined ? "plain" : "danger"}
      onPress={pressRow}
    />
  );
}

/** The user's input in a dialog. It is one value, so that each change makes one frame. */
interface DialogState {
  forms: readonly Form[];
  /** The text being typed, by field. */
  typed: ReadonlyMap<string, TextField>;
  /** The focused field: one of the form's, or that of the confirmation. */
  active: string;
  /** Lines of the preview scrolled past. */
  top: number;
  /** A message about a change that happened meanwhile. */
  notice: string | undefined;
  /** Why the last Enter did nothing. */
  refusal: string | undefined;
}

/** Says why Enter did nothing as long as that holds, and afterwards that Enter can be pressed again. */
function describeRefusal(refusal: string | undefined, obstacle: string | undefined): string | undefined {
  if (refusal === undefined || refusal === obstacle) return refusal;
  return obstacle === undefined ? "nothing was changed: press Enter again" : undefined;
}

function createDialogState(forms: readonly Form[], isReading: boolean): DialogState {
  const fields = listOpenFields(forms);
  const texts = fields.flatMap(({ id, value }): [string, TextField][] =>
    typeof value === "string" ? [[id, createField(value)]] : [],
  );
  // Without fixed fields, the dialog creates something: a prefilled name is only a beginning.
  const isNew = forms.every((form) => form.fields.every(({ isFixed }) => !isFixed));
  const first = fields.find(({ isRequired, value }) => isReading || (isRequired && (isNew || value === "")));
  return {
    forms,
    typed: new Map([...texts, [CONFIRM_FIELD, createField()]]),
    active: first?.id ?? CONFIRM_FIELD,
    top: 0,
    notice: undefined,
    refusal: undefined,
  };
}

/** Lists the fields that have the same value in all forms. Leaves out fixed fields, and those in which the forms differ. */
function listOpenFields(forms: readonly Form[]): Form["fields"] {
  const [form] = forms;
  const isSame = (value: unknown, at: number) => forms.every(({ fields }) => fields[at]?.value === value);
  return form?.fields.filter(({ isFixed, value }, at) => !isFixed && isSame(value, at)) ?? [];
}

/** Finds the first missing or wrong value. There is no preview until it is corrected. */
function findFault(forms: readonly Form[]): string | undefined {
  return forms.map(findFormFault).find((fault) => fault !== undefined);
}

/** Runs confirmed requests, each as its own job, and reports the results. @returns the ended jobs */
async function runJobRequests(
  app: ConsoleApp,
  requests: readonly JobRequest[],
): Promise<readonly ConsoleJob[]> {
  showJobs(app);
  const results = await mapAtMost(requests, AT_ONCE, (request) => app.jobs.start(request));
  reportResults(app, results);
  return results;
}

/**
 * A job that is refused within this time after its confirmation, ms, is opened. Later, the user may be doing something
 * else.
 */
const REFUSAL_OPENS_WITHIN_MS = 5_000;

function reportResults(app: ConsoleApp, results: readonly ConsoleJob[]): void {
  const [only] = results;
  if (results.length > 1) return reportResultCounts(app, results);
  if (only === undefined) return;
  const { code, startedAt, endedAt = startedAt } = only;
  const isSoon = endedAt - startedAt < REFUSAL_OPENS_WITHIN_MS && app.overlays.top === undefined;
  if (code === EXIT.changed && isSoon) return openJob(app, only.id);
  app.showToast(formatJobToast(app, only), code === EXIT.ok ? "held" : "problem");
}

function reportResultCounts(app: ConsoleApp, results: readonly ConsoleJob[]): void {
  const bad = results.filter(({ code }) => code !== EXIT.ok).length;
  if (bad === 0) app.showToast(`all ${results.length} jobs are done`, "held");
  else app.showToast(`${bad} of ${results.length} jobs failed: press Enter on a job to see why`, "problem");
}

function formatJobToast(app: ConsoleApp, { title, lines, code, outcome }: ConsoleJob): string {
  const end = code === EXIT.ok ? "done" : `exit ${code}`;
  const isDrained = outcome?.result.kind === "drain" && code === EXIT.ok;
  const [undo] = isDrained ? app.keymap.getKeyLabels("undrain") : [];
  return `${title}: ${lines.at(-1) ?? end}${undo === undefined ? "" : `; ${undo} lifts it`}`;
}

/**
 * Initial flags by command. By default, a drain waits until nothing is held any longer, because the user usually wants
 * to know.
 */
const BEGINS_WITH: Readonly<Record<string, RowAction["flags"]>> = { drain: { wait: true } };

/** Opens the dialog of a command for the marked rows, or for the row under the cursor. */
export function openRowAction(app: ConsoleApp, id: RowCommandId): void {
  const subjects = getChosenSubjects(app);
  const all = (subjects.length === 0 ? [undefined] : subjects).map((one) =>
    buildRowAction(id, one, app.liveView.snapshot),
  );
  openDialog(app, all);
}

/** Opens a form for everything that a command needs. @param given  known values of a command that only reads */
export function openCommand(app: ConsoleApp, id: string, given: Partial<RowAction> = {}): void {
  const command = getCommandById(id);
  if (isRefusedInPast(app)) return;
  if (hasFlag(command, "dry-run")) return openDialog(app, [{ command, args: [], fixed: 0, target: "" }]);
  const form = createForm(command, given);
  const needs = form.fields.some(({ isRequired }) => isRequired);
  const title = [id, ...(given.args ?? [])].join(" ");
  if (needs) app.overlays.open(<Dialog title={title} forms={[form]} targets={[""]} />);
  else openOutput(app, command, [], id);
}

/**
 * Opens the dialog of the row actions that are possible. If none is possible, shows why.
 * @param onDone  called when the confirmed commands have ended
 */
export function openDialog(
  app: ConsoleApp,
  possible: readonly RowActionResult[],
  onDone?: (jobs: readonly ConsoleJob[]) => void,
): void {
  const obstacle = findChangeObstacle(app);
  if (obstacle !== undefined)
    return app.showToast(obstacle, "problem", () => findChangeObstacle(app) === obstacle);
  const actions = possible.filter((one): one is RowAction => "command" in one);
  const [first] = actions;
  if (first === undefined) {
    const [why] = possible;
    const text = why !== undefined && "reason" in why ? why.reason : "nothing is selected";
    return refuseForRow(app, text);
  }
  const { command } = first;
  const [form, ...others] = actions.map((action) =>
    createForm(command, {
      fixed: action.args.length,
      ...action,
      flags: { ...BEGINS_WITH[command.id], ...action.flags },
    }),
  );
  if (form === undefined) return;
  const many = actions.length > 1 ? `${actions.length} rows` : first.target;
  app.overlays.open(
    <Dialog
      title={`${command.id} ${many}`.trim()}
      forms={[form, ...others]}
      targets={actions.map(({ target }) => target)}
      onDone={onDone}
    />,
  );
}

/**
 * Opens the dialog of a remedy's command, with its values filled in.
 * @param onDone  called when the confirmed command has ended
 */
export function openRemedy(app: ConsoleApp, remedy: Remedy, onDone?: () => void): void {
  openDialog(app, [buildRemedyAction(app, remedy)], onDone);
}

/** Opens the target of a detail row: the dialog of its remedy if it has one, otherwise its details. */
export function openTarget(app: ConsoleApp, target: DetailTarget): void {
  if (target.remedy !== undefined) return openRemedy(app, target.remedy);
  if (target.lines !== undefined || target.subject !== undefined)
    app.overlays.open(<TargetDetails target={target} />);
}

function TargetDetails({ target: { title, lines, subject } }: { target: DetailTarget }) {
  const { app } = useOverlay();
  return (
    <TextView
      title={title}
      buildRows={(width) =>
        lines === undefined && subject !== undefined
          ? buildSubjectRows(app, subject, width)
          : wrapRows(app.theme, lines ?? [], width)
      }
    />
  );
}

const EDITED_LOOK: Readonly<Record<string, "resource" | "schedule">> = {
  "resource set": "resource",
  "schedule edit": "schedule",
};

function buildRemedyAction(app: ConsoleApp, { command, args, flags }: Remedy): RowActionResult {
  const [name = "", ...values] = args;
  const kind = EDITED_LOOK[command];
  if (kind === undefined) return { command: getCommandById(command), args, flags, target: args.join(" ") };
  const edit = buildEditAction({ kind, name }, app.liveView.snapshot);
  if ("reason" in edit) return edit;
  return { ...edit, ...(values.length > 0 && { args }), flags: { ...edit.flags, ...flags } };
}

/** Builds the current details of a subject. Called for every frame, because its state can change. */
function buildSubjectRows(app: ConsoleApp, subject: Subject, width: number): RowModel[] {
  const inputs = { snapshot: app.liveView.snapshot, wall: app.getWallTime(), sessions: new Map(), facts: [] };
  const lines = buildDetailLines(buildDetail(subject, inputs), app.theme.createLook(width));
  return lines.map(({ spans }) => ({ cells: spans }));
}
