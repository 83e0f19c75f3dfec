/* Whom the launcher trusts: root, and the user who calls it. */
#pragma once

/*
 * Returns 0 when the path is a socket that only they could have put there. Else returns -1; errno is that of a path
 * that cannot be read, ENOTSOCK when they have put something else there, or 0.
 */
int trust_check_path(const char *path);

/* Whether they listen at the other end of a connection. */
int trust_has_peer(int sock);
