# SPDX-License-Identifier: Apache-2.0
"""Postfix as a mail server of its own, never the machine's mail system. Must be started by root.

    postfix_peer.py CERTIFICATE KEY

Takes mail for a@, b@ and jürgen@example.org into maildirs, over STARTTLS or without; refuses bare line feeds, mails over 2 MB, and mails
with "refuse this" in the subject. Prints its port and its folder, in which mail/NAME/new/ holds what came. Ends, and takes its folder
away, when stdin does.
"""
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time

MAIN = """
compatibility_level = 3.6
config_directory = {folder}/config
queue_directory = {folder}/queue
data_directory = {folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = {folder}/data/log
maillog_file_prefixes = {folder}
myhostname = mail.example.org
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks =
smtpd_relay_restrictions = reject_unauth_destination
smtpd_peername_lookup = no
smtpd_forbid_bare_newline = yes
smtpd_helo_required = yes
smtpd_helo_restrictions = reject_non_fqdn_helo_hostname, reject_invalid_helo_hostname
smtpd_tls_security_level = may
smtpd_tls_cert_file = {certificate}
smtpd_tls_key_file = {key}
smtpd_hard_error_limit = 1000
smtputf8_enable = yes
message_size_limit = 2000000
header_checks = regexp:{folder}/config/headers
alias_maps =
alias_database =
local_recipient_maps =
virtual_mailbox_domains = example.org
virtual_mailbox_base = {folder}/mail
virtual_mailbox_maps = regexp:{folder}/config/boxes
virtual_minimum_uid = 1
virtual_uid_maps = static:{user}
virtual_gid_maps = static:{group}
virtual_transport = virtual
default_transport = error:no way out
"""

MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
virtual unix - n n - - virtual
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
"""

folder = pathlib.Path(tempfile.mkdtemp(prefix="relay-postfix-")).resolve()
folder.chmod(0o755)
for name in ("config", "queue", "data", "mail"):
    (folder / name).mkdir()
for name in ("certificate", "key"):
    shutil.copy(sys.argv[1 if name == "certificate" else 2], folder / "config" / name)
nobody = pwd.getpwnam("nobody")
shutil.chown(folder / "data", "postfix")
shutil.chown(folder / "mail", nobody.pw_uid, nobody.pw_gid)
with socket.create_server(("127.0.0.1", 0)) as listener:
    port = listener.getsockname()[1]
values = {
    "folder": folder, "port": port, "user": nobody.pw_uid, "group": nobody.pw_gid, "certificate": folder / "config/certificate",
    "key": folder / "config/key"}
(folder / "config/main.cf").write_text(MAIN.format(**values))
(folder / "config/master.cf").write_text(MASTER.format(**values))
(folder / "config/headers").write_text("/^Subject:.*refuse this/ REJECT not that\n")
(folder / "config/boxes").write_text("/^a@example\\.org$/ a/\n/^b@example\\.org$/ b/\n/^jürgen@example\\.org$/ j/\n")
environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def control(word):
    return subprocess.run(
        ["postfix", "-c", str(folder / "config"), word], env=environment, capture_output=True, text=True, timeout=60)


try:
    started = control("start")
    if started.returncode != 0:
        sys.exit(f"postfix start ended with {started.returncode}: {started.stderr}")
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            if time.monotonic() > deadline:
                sys.exit("Postfix doesn't listen")
            time.sleep(0.05)
    print(port, flush=True)
    print(folder, flush=True)
    sys.stdin.read()
finally:
    control("stop")
    shutil.rmtree(folder, ignore_errors=True)
