/** Number of hosts listed in one finding. Further hosts are only counted. */
const MANY = 5;

/** Formats the hosts of a finding: `web1, web2, 3 more`. */
export function formatHostNames(hosts: readonly string[]): string {
  const more = hosts.length > MANY ? [`${hosts.length - MANY} more`] : [];
  return [...hosts.slice(0, MANY), ...more].join(", ");
}
