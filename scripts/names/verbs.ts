/**
 * Words with which the name of a function may begin: verbs in the base form, and the words that make a predicate or a
 * conversion. A word that is also a noun (`lock`, `queue`, `count`) counts as a verb: the script cannot tell them apart.
 */
export const VERBS = new Set(
  `
abandon abort accept acquire act adapt add adjust admit adopt advance allocate allow announce answer append
apply are arm arrange ask assemble assert assign attach attempt audit authenticate avenge await backup batch
begin bind blink block browse build calculate call can cancel canonicalize capture cast catch change check
choose claim clamp classify clean clear click clip clone close collapse collect colour combine commit compact
compare compile complete compose compress compute concat conclude condense configure confirm connect consider
construct consume contain continue control convert copy correct could count cover crash create cut deactivate
debounce debug decide declare decode decorate decrease deduplicate defer define defrost delay delete deliver
derive descend describe deserialize destroy detach detect determine dial did diff dim discard disarm disconnect
discover dispatch display dispose distribute distrust divert divide do does download drain draw drop dump duplicate
edit elect emit enable encode encrypt end enforce enqueue ensure enter enumerate equal erase escape estimate
evaluate evict examine exclude execute exit expand expect expire explain explore export expose extend extract
fail fake fall feed fetch fill filter find finish fire fit fix flatten flip flush focus fold follow forbid
force forget fork format forward free freeze from fulfil gather generate get give go grant greet group grow
guard guess handle hang has hash have heal hear hedge hide highlight hit hold hook identify ignore implement import
increase increment indent index infer inform inherit init initialize inject insert inspect install intercept interpret
interrupt intersect invalidate invert invoke is isolate issue iterate join judge jump justify keep kill know
label launch lay leave lend let lift limit link lint list listen load locate lock log look lookup loop lose
lower make manage map mark mask match may measure meet memoize merge migrate minimize mix mkdir mock modify
monitor mount move must mutate mute name narrow navigate need needs negotiate nest normalize note notify
number obey observe obtain offer omit on open operate order overrule overwrite own pack pad page paint pair
parse partition pass paste patch pause peek perform persist pick pin ping pipe place plan play pluralize poll
pop populate post predict prefix prepare present preserve press prevent preview print probe process produce
project promise prompt propagate prove provide prune publish pull purge push put query queue quit quote race
raise range rank rate reach react read realize rebase rebuild recall receive reckon recognize reconcile
reconnect record recount recover redact redirect redraw reduce refer refill reformat refresh refuse register
reject relate relay release reload remember remove rename render renew reopen reorder reorganize repaint
repeat replace replay reply report reproduce request require reread rerun reschedule reserve reset resize
resolve respond restart restore restrict resume retain retire retrieve retry return reuse revalidate reveal
reverse revert review revoke rewind rewrite roll rotate round route run sample sanitize satisfy save scale
scan schedule score scrape scroll scrub seal search secure see seek select send separate serialize serve set settle
setup share shift ship shorten should show shrink shuffle shut sign signal silence simplify simulate skip
sleep slice sort spawn spin spoil speak split spread stand start steal step stop store stream stress stretch strip style
subscribe substitute subtract succeed suggest sum summarize supply support suppress survive suspect suspend
swallow swap sweep switch sync synchronize tail take talk tell terminate test throttle throw tick tidy to
toggle tokenize touch trace track trail transfer transform translate traverse trigger trim truncate try tune
turn type unbind uncover undo undrain unescape unfold unfreeze unlink unlock unmark unmount unpack unquote unregister
unset unshift unsubscribe unwrap update upgrade upload use validate verify view visit wait wake walk want warn
was watch weigh were will with withdraw work wrap write yield zip zoom
`
    .split(/\s+/)
    .filter((word) => word !== ""),
);
