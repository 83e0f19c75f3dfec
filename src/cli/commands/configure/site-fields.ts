import { pickDefined } from "../../../core/base/pick-defined.ts";
import { compareByCodeUnit, compareByResourceOrder } from "../../../core/fleet/configuration.ts";
import type { ResourceConfig } from "../../../core/fleet/resources.ts";
import { DEFINITION_FIELDS, type Definition } from "../../../schedule/definition.ts";
import type { DocumentedGroup, SiteDocument } from "../../../site/operate/site.ts";
import { buildConfiguration } from "../../../site/state/configuration.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import { escapeInvisible } from "../../frame/json-output.ts";

/** The version of the document of a site. A document can omit it. */
export const SITE_VERSION = 1;

/** Builds the groups and resources of a document, of what can be read. */
export function buildSiteConfig(snapshot: Snapshot): Required<Pick<SiteDocument, "groups" | "resources">> {
  const { groups, resources } = buildConfiguration(snapshot);
  const toGroup = ([name, members]: readonly [string, readonly string[]]) => {
    const source = snapshot.groups.get(name)?.source;
    return [name, { members, ...(source !== undefined && { source }) }] as const;
  };
  return {
    groups: new Map([...groups].map(toGroup)),
    resources: new Map([...resources].map(([name, config]) => [name, { isWhole: true, config }])),
  };
}

/** Formats a site as JSON. Equal sites give equal texts. Durations and instants are in ms. */
export function formatSiteJson(site: SiteDocument): string {
  return escapeInvisible(`${JSON.stringify(listSiteFields(site), undefined, 2)}\n`);
}

/**
 * Lists the fields of the document of a site, in a fixed order.
 * @param convert  converts the value of a field of a schedule
 */
export function listSiteFields(
  { groups, resources, calendars, schedules }: SiteDocument,
  convert: (field: string, value: unknown) => unknown = (_, value) => value,
): object {
  return {
    version: SITE_VERSION,
    ...(groups && { groups: mapByName(groups, toGroupField) }),
    ...(resources && {
      resources: [...resources]
        .map(([name, { config }]) => [name, config] as const)
        .sort(compareByResourceOrder)
        .map(toResourceField),
    }),
    ...(calendars && {
      calendars: mapByName(calendars, ({ days, note, source }) => pickDefined({ days, note, source })),
    }),
    ...(schedules && { schedules: mapByName(schedules, (one) => toScheduleFields(one, convert)) }),
  };
}

function mapByName<T>(values: ReadonlyMap<string, T>, convert: (value: T) => unknown): object {
  const sorted = [...values].sort(([a], [b]) => compareByCodeUnit(a, b));
  return Object.fromEntries(sorted.map(([name, value]) => [name, convert(value)]));
}

function toGroupField({ members, source }: DocumentedGroup): unknown {
  return source === undefined ? members : { members, source };
}

function toResourceField([name, { total, ...rest }]: readonly [string, ResourceConfig]): object {
  const isNumber = total !== undefined && /^[1-9]\d{0,14}$/.test(total);
  return { name, ...(total !== undefined && { total: isNumber ? Number(total) : total }), ...rest };
}

function toScheduleFields(
  definition: Definition,
  convert: (field: string, value: unknown) => unknown,
): object {
  const names = [...new Set([...DEFINITION_FIELDS, ...Object.keys(definition).sort()])];
  const fields = definition as unknown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, convert(name, fields[name])]])),
  );
}
