import { open } from '../../../src/engine.ts'
import { createMailer } from '../../../src/service/network/smtp.ts'

// Lets hours pass, one after another, and does what is due in each, until it is killed: `node kill-child.mjs DIR WEBHOOK SMTP FIRST LAST`. Hours are counted from `start`.

const [dataDir = '', hook = '', smtp = '', first = '0', last = '0'] = process.argv.slice(2)
const start = Date.parse('2026-01-05T00:06:00Z')
const hour = 3_600_000
let now = start + Number(first) * hour
const mailer = await createMailer(smtp, 'Waymark <no-reply@acme.test>')
const waymark = await open({
  dataDir,
  clock: () => new Date(now),
  threads: 1,
  memoryLimit: '256MB',
  exports: { runs: false },
  notifications: { runs: false },
  plugins: { runs: false, allowsPrivateRequests: true },
  surroundings: { mailer: () => mailer },
})
const { accounts, saved, notifications } = waymark
const { project, user, organization } = await accounts.firstStart({ makesKey: false })
const { read } = accounts.context.store
if ((await read.subscriptions.count({})) === 0) {
  const data = await waymark.project(project.id)
  await data.ingest({ batch: Array.from({ length: 5 }, (_, i) => ({ event: 'signup', distinct_id: `u${i}` })) })
  const membership = (await accounts.organizations.membership(organization.id, user))!
  const place = { project, by: { user, membership } }
  const query = {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'signup' }],
    dateRange: { date_from: '-30d' },
    trendsFilter: { display: 'BoldNumber' },
  }
  const { insight } = await saved.insights.create(place, { name: 'Signups', query })
  const rule = {
    insight: insight.id,
    condition: { type: 'absolute_value' },
    threshold: { configuration: { type: 'absolute', bounds: { lower: 1e9 } } },
  }
  // A process that is killed here starts once more.
  for (let n = await read.alerts.count({}); n < 3; n++)
    await notifications.alerts.create(place, { ...rule, name: `Alert ${n}`, calculation_interval: 'hourly', webhook_url: hook })
  const schedule = {
    frequency: 'daily',
    start_date: new Date(start).toISOString(),
    target_type: 'email',
    target_value: 'a@else.test,b@else.test',
  }
  await notifications.subscriptions.create(place, { insight: insight.id, ...schedule })
}
for (let n = Number(first); n <= Number(last); n++) {
  now = start + n * hour
  console.log(`hour ${n}`)
  // What fails is tried again within the hour.
  for (let minute = 0; minute < 50; minute++) {
    await notifications.scheduler.tick()
    await notifications.scheduler.settled()
    const waiting = await read.notice_deliveries.count({ status: 'waiting' })
    const isDue = (await read.alerts.find({})).some(({ next_check_at }) => next_check_at.getTime() <= now)
    if (waiting === 0 && !isDue && notifications.scheduler.running === 0) break
    now += 60_000
  }
}
const checks = await read.alert_checks.find({})
const deliveries = await read.notice_deliveries.find({})
console.log(
  JSON.stringify({
    checks: checks.map(({ alert_id, due_at }) => `${alert_id} ${due_at.toISOString()}`),
    deliveries: deliveries.map(({ id, status }) => ({ id, status })),
  }),
)
mailer.close()
await waymark.close()
