import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../../src/engine.ts'
import { resealSecrets, sealedFor } from '../../../../src/service/accounts/secrets/resealing.ts'
import { createSecretBox, newSecretKey, type SecretBox } from '../../../../src/service/accounts/secrets/secret-box.ts'

// A key is replaced: every secret at rest gets the new one, and the old one is no longer needed.

const folder = mkdtempSync(join(tmpdir(), 'waymark-resealing-'))
let waymark: LocalWaymark | null = null
afterEach(async () => {
  await waymark?.close()
  waymark = null
  rmSync(folder, { recursive: true, force: true })
})

/** One record of each kind. */
async function insertSecrets(into: LocalWaymark, box: SecretBox, n: number): Promise<void> {
  const { context, firstStart } = into.accounts
  const { organization, project } = await firstStart({ makesKey: false })
  const now = new Date()
  const shared = { organization_id: organization.id, project_id: project.id, created_at: now }
  await context.store.write(async (tables) => {
    await tables.batch_exports.insert({
      ...shared,
      id: `export ${n}`,
      name: '',
      model: 'events',
      destination_type: 'HTTP',
      config: {},
      secrets: box.seal('export', sealedFor.batchExport(`export ${n}`)),
      interval: 'hour',
      paused: true,
      paused_reason: null,
      schema: null,
      filters: null,
      start_at: null,
      end_at: null,
      last_updated_at: now,
      last_paused_at: null,
      cut_at: now,
      cut_position: { position: 0, isFinal: true },
      failed_runs: 0,
      is_deleted: false,
    })
    await tables.plugins.insert({
      id: n,
      organization_id: organization.id,
      plugin_type: 'custom',
      name: null,
      description: null,
      url: `https://github.com/acme/p${n}`,
      url_secrets: box.seal('url', sealedFor.pluginUrl(n)),
      icon: null,
      config_schema: {},
      tag: null,
      latest_tag: null,
      is_global: false,
      capabilities: {},
      metrics: {},
      public_jobs: {},
      code_hash: null,
      created_at: now,
      updated_at: now,
    })
    await tables.plugin_configs.insert({
      ...shared,
      id: n,
      plugin_id: n,
      enabled: false,
      position: 0,
      config: {},
      secrets: { a: box.seal('a', sealedFor.pluginSetting(n, 'a')), b: box.seal('b', sealedFor.pluginSetting(n, 'b')) },
      agreed_hash: null,
      name: null,
      description: null,
      is_deleted: false,
      error: null,
      updated_at: now,
    })
    await tables.plugin_attachments.insert({
      id: `file ${n}`,
      project_id: project.id,
      plugin_config_id: n,
      key: 'f',
      content_type: 'text/plain',
      file_name: 'f.txt',
      file_size: 1,
      contents: box.seal('file', sealedFor.pluginAttachment(n, 'f')),
    })
    await tables.plugin_webhooks.insert({
      plugin_config_id: n,
      project_id: project.id,
      hash: `hash ${n}`,
      secret: box.seal('address', sealedFor.pluginWebhook(n)),
      created_at: now,
    })
    const written = { project_id: project.id, created_by_id: null, created_at: now, updated_at: now }
    await tables.alerts.insert({
      ...written,
      id: `alert ${n}`,
      insight_id: 1,
      name: '',
      enabled: false,
      condition: 'absolute_value',
      threshold: null,
      config: null,
      subscribed_users: [],
      webhook_url: null,
      webhook_secret: box.seal('alert', sealedFor.alertWebhook(`alert ${n}`)),
      calculation_interval: 'daily',
      skip_weekend: false,
      state: 'Not firing',
      snoozed_until: null,
      last_checked_at: null,
      last_notified_at: null,
      last_value: null,
      next_check_at: now,
    })
    await tables.subscriptions.insert({
      ...written,
      id: n,
      insight_id: 1,
      dashboard_id: null,
      title: null,
      target_type: 'webhook',
      target_value: 'https://hooks.example.com/in',
      enabled: true,
      webhook_secret: box.seal('subscription', sealedFor.subscriptionWebhook(n)),
      frequency: 'daily',
      interval: 1,
      byweekday: null,
      bysetpos: null,
      count: null,
      start_date: now,
      until_date: null,
      next_delivery_date: null,
      deleted: false,
    })
  })
}

async function secretsIn({ accounts: { context } }: LocalWaymark, box: SecretBox, n: number): Promise<string[]> {
  const { read } = context.store
  const { a, b } = (await read.plugin_configs.first({ id: n }))!.secrets as { a: string; b: string }
  return [
    box.open((await read.batch_exports.first({ id: `export ${n}` }))!.secrets!, sealedFor.batchExport(`export ${n}`)),
    box.open((await read.plugins.first({ id: n }))!.url_secrets!, sealedFor.pluginUrl(n)),
    box.open(a, sealedFor.pluginSetting(n, 'a')),
    box.open(b, sealedFor.pluginSetting(n, 'b')),
    box.open((await read.plugin_attachments.first({ id: `file ${n}` }))!.contents, sealedFor.pluginAttachment(n, 'f')),
    box.open((await read.plugin_webhooks.first({ plugin_config_id: n }))!.secret, sealedFor.pluginWebhook(n)),
    box.open((await read.alerts.first({ id: `alert ${n}` }))!.webhook_secret!, sealedFor.alertWebhook(`alert ${n}`)),
    box.open((await read.subscriptions.first({ id: n }))!.webhook_secret!, sealedFor.subscriptionWebhook(n)),
  ]
}
const plain = ['export', 'url', 'a', 'b', 'file', 'address', 'alert', 'subscription']

test('a server that starts with a new key seals all secrets with it', async () => {
  const [old, now] = [newSecretKey(), newSecretKey()]
  const dataDir = join(folder, 'data')
  waymark = await open({ dataDir, exports: { runs: false, secretKeys: [old] } })
  await insertSecrets(waymark, createSecretBox([old]), 1)
  await waymark.close()
  const reports: unknown[] = []
  waymark = await open({ dataDir, exports: { runs: false, secretKeys: [now, old] }, onError: (error) => reports.push(error) })
  const current = createSecretBox([now])
  while (!current.isCurrent((await waymark.accounts.context.store.read.subscriptions.first({ id: 1 }))!.webhook_secret!))
    await new Promise(setImmediate)
  expect(await secretsIn(waymark, current, 1)).toEqual(plain)
  expect(reports).toEqual([])
})

test('a secret that no key opens is reported, and does not keep the others from the new key', async () => {
  const [lost, old, now] = [newSecretKey(), newSecretKey(), newSecretKey()]
  waymark = await open({ dataDir: ':memory:', exports: { runs: false } })
  await insertSecrets(waymark, createSecretBox([lost]), 1)
  await insertSecrets(waymark, createSecretBox([old]), 2)
  const reports: unknown[] = []
  const parts = {
    context: waymark.accounts.context,
    box: createSecretBox([now, old]),
    report: (error: unknown) => void reports.push(error),
  }
  expect(await resealSecrets(parts)).toBe(8)
  expect(await secretsIn(waymark, createSecretBox([now]), 2)).toEqual(plain)
  expect(reports.map((error) => (error as { code: string }).code)).toEqual(Array(7).fill('unknown-secret-key'))
  expect(await secretsIn(waymark, createSecretBox([lost]), 1)).toEqual(plain)
  expect(await resealSecrets(parts)).toBe(0)
})
