import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'waymark-invites-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const asBefore = async () => {
  const database = await DuckDBInstance.create(join(dataDir, 'control.duckdb'))
  const connection = await database.connect()
  await connection.run('ALTER TABLE invites DROP COLUMN secret_hash')
  await connection.run('CHECKPOINT')
  connection.closeSync()
  database.closeSync()
}

test('a directory from before invitations had secrets opens: those that wait are not accepted by their ids, and can be sent again', async () => {
  const first = await open({ dataDir, threads: 1 })
  const { organization, user } = await first.accounts.firstStart({})
  const membership = (await first.accounts.organizations.membership(organization.id, user))!
  const made = await first.accounts.invites.create({ user, membership }, organization, { target_email: 'waits@acme.test', level: 8 })
  await first.close()
  await asBefore()

  for (let opening = 0; opening < 2; opening++) {
    const again = await open({ dataDir, threads: 1 })
    const { invites, joining, users } = again.accounts
    const [waiting] = await invites.list(organization.id)
    expect(waiting).toEqual({ ...made.invite, secret_hash: null })
    for (const guess of [waiting!.id, made.secret!, '', 'null'])
      await expect(joining.accept(guess, null, { first_name: 'Thief', password: 'correct horse' })).rejects.toThrow(
        'The provided invite ID is not valid.',
      )
    expect(await users.byEmail('waits@acme.test')).toBeUndefined()
    await again.close()
  }

  const last = await open({ dataDir, threads: 1 })
  const { secret } = await last.accounts.invites.resend({ user, membership }, organization, made.invite)
  await last.accounts.joining.accept(secret!, null, { first_name: 'Guest', password: 'correct horse' })
  const guest = (await last.accounts.users.byEmail('waits@acme.test'))!
  expect(await last.accounts.organizations.membership(organization.id, guest)).toMatchObject({ level: 8 })
  await last.close()
})
