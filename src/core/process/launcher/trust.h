/* The launcher trusts root, and the user who calls it. */
#pragma once

/*
 * Returns 0 if the path is a socket that only a trusted user could have put there. Else returns -1 with errno: that of the
 * failed access to the path, ENOTSOCK if a trusted user has put something else there, or 0.
 */
int trust_check_path(const char *path);

/* Whether the process at the other end of a connection belongs to a trusted user. */
int trust_has_peer(int sock);
