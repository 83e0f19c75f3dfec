import { describe, expect, it } from "vitest";
import { HOSTS, listDemoHosts } from "../../scripts/demo/hosts.ts";
import { JOBS } from "../../scripts/demo/jobs.ts";
import { NamedRandom } from "../../scripts/demo/named-random.ts";
import { findNameFault } from "../../src/core/base/text.ts";
import { parseLeases } from "../../src/core/fleet/lease-spec.ts";
import { createMacros } from "../../src/core/fleet/macros.ts";

describe("the playground's rota", () => {
  it("draws the same for the same seed and name, and else something else", () => {
    const draw = (seed: number, name: string) => {
      const chance = new NamedRandom(seed, name);
      return Array.from({ length: 5 }, () => chance.drawUnit());
    };
    expect(draw(1, "backup-db")).toEqual(draw(1, "backup-db"));
    expect(draw(1, "backup-db")).not.toEqual(draw(2, "backup-db"));
    expect(draw(1, "backup-db")).not.toEqual(draw(1, "vacuum"));
    expect(draw(7, "vacuum").every((value) => value >= 0 && value < 1)).toBe(true);
  });

  it("has a dozen hosts, and no more runs at a time than a laptop bears", () => {
    expect(HOSTS).toHaveLength(12);
    expect(JOBS.reduce((sum, { rivals }) => sum + rivals, 0)).toBeLessThan(100);
    expect(new Set(JOBS.map(({ name }) => name)).size).toBe(JOBS.length);
  });

  it.each(JOBS)("$name can run on each of its hosts", ({ name, hosts, leases, lasts, rests }) => {
    expect(findNameFault(name)).toBeUndefined();
    for (const range of [lasts, rests]) expect(range[0]).toBeLessThanOrEqual(range[1]);
    for (const fqdn of listDemoHosts(hosts)) {
      const own = HOSTS.find((host) => host.name === fqdn)?.macros ?? { CORES: 0, RAM: 0 };
      const facts = { fqdn, host: fqdn.replace(/\..*/, ""), cpu: 1, memMb: 1, macros: own };
      const wanted = parseLeases(leases, createMacros(facts));
      const getCount = (what: string) =>
        wanted.find(({ resource }) => resource === `${fqdn}_${what}`)?.count ?? 0;
      expect(getCount("cpu")).toBeLessThanOrEqual(own.CORES);
      expect(getCount("mem")).toBeLessThanOrEqual(own.RAM);
    }
  });
});
