/** First words that show whether the lines of a crontab name a user before the command. */

const parseWordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Users that a distribution, a package or a convention creates. Some of them are also commands. */
export const USERS = parseWordSet(`
  root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody _apt messagebus sshd
  systemd-network systemd-timesync systemd-resolve syslog ntp _ntp ntpsec statd postfix postdrop postgres mysql mariadb
  redis mongodb memcache memcached rabbitmq elasticsearch opensearch solr kibana logstash grafana prometheus influxdb
  telegraf zabbix nagios nrpe icinga munin cacti smokeping logcheck amavis clamav debian-spamd spamd dovecot vmail exim
  Debian-exim debian-tor tor bind named unbound nginx apache apache2 httpd http www web webapp tomcat jetty wildfly
  jenkins gitlab git gitea svn mailman opendkim asterisk freeswitch oracle hadoop hdfs hive spark airflow celery django
  rails odoo nextcloud owncloud mastodon discourse moodle wordpress psaadm cpanel deploy deployer app appuser user
  username ubuntu debian centos ec2-user admin vagrant pi operator ftp squid libuuid colord sa_spamd puppet consul vault
`);

/** Users whose name is also a command: `mail -s x`, `sync`, `git pull`. The next word decides. */
export const AMBIGUOUS = parseWordSet(`
  bin sync games man mail news backup list proxy postgres mysql redis git svn mailman nginx apache2 httpd logcheck named
  unbound tor hive solr puppet consul vault app spark airflow celery postfix asterisk odoo rails telegraf grafana
  prometheus influxdb http web admin deploy deployer
`);

/** Commands that lines of crontabs often begin with. */
export const CRONTAB_COMMANDS = parseWordSet(`
  cd test if for while until case export set eval trap true false echo printf sleep wait read umask ulimit source exec
  command time nice ionice chrt taskset sudo doas su runuser flock env sh bash dash ksh zsh timeout nohup setsid chronic
  cronic cronitor runitor sentry-cli signalbox switchman cronlock golock zoo-locked setlock etcdctl consul chpst
  setuidgid envdir softlimit lockrun run-one run-this-one keep-one-running solo lockf with-lock-ex sem parallel
  dotlockfile lckdo withlock lockfile systemd-cat systemd-run systemctl service initctl logger stdbuf script screen tmux
  docker docker-compose podman kubectl helm nomad ssh scp sftp ftp lftp rsync rclone restic borg borgmatic duplicity
  rdiff-backup rsnapshot tar gzip gunzip zip bzip2 xz cp mv rm ln mkdir rmdir touch chown chmod find xargs ls cat head
  tail grep egrep awk sed sort cut date df du ps pgrep pkill kill killall reboot shutdown poweroff hwclock ntpdate
  chronyc fstrim smartctl mdadm zfs zpool lvm mount umount updatedb logrotate run-parts anacron apt apt-get aptitude
  unattended-upgrade yum dnf zypper apk pacman snap flatpak curl wget http nc ping dig host nslookup certbot acme.sh
  dehydrated lego openssl python python2 python3 perl php ruby node nodejs java deno bun npm npx yarn pnpm pip pip3
  pipenv poetry uv bundle rake composer artisan drush wp magento symfony make ant mvn gradle go cargo mysqldump
  mysqladmin mariadb-dump psql pg_dump pg_dumpall vacuumdb sqlite3 mongodump redis-cli influx aws gsutil gcloud az s3cmd
  s3fs mc sendmail mailx mutt ansible ansible-playbook salt-call puppet chef-client webalizer awstats vnstat sa1 sa2
  sar iptables nft ip wp-cli xvfb-run osascript launchctl jq notify-send beep
`);
