/** Folders whose entries are each one version of a program. */
const VERSIONED = /(?<=\/(?:releases?|versions?|builds?|deployments?|deploys?)\/)[^/\s'"]+/g;
/** A folder named after a time or a commit, or one from the Nix store. */
const STAMPED = /(?<=\/)(?:\d{8}(?:[-_T]?\d{4,6})?|(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40})(?=\/)/g;
const STORED = /(?<=\/nix\/store\/)[0-9a-z]{32}-/g;

/**
 * Removes the parts of paths that change with each release: `/srv/app/releases/20240102030405/bin/mail` becomes
 * `/srv/app/releases/-/bin/mail`. A lock named after a path must keep its name after a release.
 */
export function removeReleaseNames(text: string): string {
  return text.replace(VERSIONED, "-").replace(STAMPED, "-").replace(STORED, "");
}
