#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nginx.sh FOLDER: nginx with a 1 MiB limit, PUT into FOLDER/dav, and TLS with HTTP/2 by FOLDER/good.pem. Prints the ports for
# HTTP and HTTPS when it listens, and ends when standard input does.
set -e
cd "$1"
mkdir -p dav temp
ports=$(python3 -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[x.getsockname()[1] for x in s])')
plain=${ports% *} secure=${ports#* }
cat >nginx.conf <<END
daemon off; master_process off; pid nginx.pid; error_log error.log;
events { worker_connections 64; }
http {
  access_log access.log; client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp; uwsgi_temp_path temp;
  scgi_temp_path temp; client_max_body_size 1m;
  server {
    listen 127.0.0.1:$plain; listen 127.0.0.1:$secure ssl http2;
    ssl_certificate good.pem; ssl_certificate_key good.key;
    location /dav/ { root $1; dav_methods PUT; client_max_body_size 0; }
    location /version { return 200 \$server_protocol; }
    location / { return 200 taken; }
    location /old { return 301 /new; }
  }
}
END
PATH=$PATH:/usr/sbin nginx -p "$1" -c nginx.conf 2>/dev/null &
trap 'kill $!; exit' EXIT TERM
until python3 -c "import socket; socket.create_connection(('127.0.0.1', $secure))" 2>/dev/null; do kill -0 $!; done
echo "$ports"
cat >/dev/null
