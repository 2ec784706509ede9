import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { counts, Load, Member } from './members.ts'

/** Restarts each of two servers in turn, then kills the owner, again and again, while events come in: nothing is refused, lost or doubled. */
export async function rollingRestarts(restarts: number, kills: number, ...options: string[]): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-rolling-'))
  const members = [await Member.start(dataDir, ...options)]
  const { facts } = members[0]!
  try {
    members.push(await Member.start(dataDir, ...options))
    const load = new Load(facts.project_api_key)
    await load.to(...members)
    const replace = async (end: (member: Member) => Promise<void>) => {
      await load.more(20)
      const [owner, guest] = members as [Member, Member]
      await load.to(guest)
      await end(owner)
      await load.more(20) // the guest has taken over
      const next = await Member.start(dataDir, ...options)
      members.splice(0, 2, guest, next)
      await load.to(guest, next)
    }
    for (let i = 0; i < restarts; i++) await replace((owner) => owner.stop())
    for (let i = 0; i < kills; i++) await replace((owner) => owner.kill())
    const acknowledged = await load.end()
    for (const member of members) expect(await counts(member, facts)).toEqual([[acknowledged, acknowledged]])
    console.log(`${acknowledged} events, the slowest request took ${Math.round(load.slowest)} ms`)
  } finally {
    for (const member of members) await member.kill()
    await rm(dataDir, { recursive: true, force: true })
  }
}
