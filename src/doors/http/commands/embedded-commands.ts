import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { LocalWaymark } from '../../../engine.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { newSecret } from '../../../service/directory/announcement.ts'
import { type DownloadInput, directoryCommands, downloadFrom, type Input } from './directory-commands.ts'
import { type LocalCommands, withLocalCommands } from './local-commands.ts'

// An application that has opened a directory takes the commands that would otherwise find it locked: `waymark users link`, `waymark keys create`. It listens on the loopback
// interface only, and the secret is in a file that only the owner of the directory can read.

interface Door {
  publicUrl: string | null
}
const doors = new WeakMap<LocalWaymark, Door>()

const noAddress = () =>
  new WaymarkError('command-failed', {
    message:
      'The application that has this directory open has not set its public URL. Pass it: `--public-url https://app.example.com/analytics`, or `createHandler(waymark, { publicUrl })` in the application.',
  })

const workOf = (waymark: LocalWaymark, door: Door): LocalCommands => ({
  ...Object.fromEntries(
    Object.entries(directoryCommands).map(([name, command]) => [name, (input: unknown) => command(waymark, input as never)]),
  ),
  'create-password-link': async (input) => {
    const asked = input as Input<'create-password-link'>
    const public_url = asked.public_url ?? door.publicUrl
    // Never the address that a request names: its sender would choose where the secret of the link goes.
    if (public_url === null) throw noAddress()
    return directoryCommands['create-password-link'](waymark, { ...asked, public_url })
  },
})

const others = async ({ url }: Request) => new Response(null, { status: new URL(url).pathname === '/_livez' ? 200 : 404 })

/** Answers commands with this secret, and nothing else. */
function commandsOf(waymark: LocalWaymark, door: Door, secret: string): ReturnType<typeof withLocalCommands> {
  const downloads = {
    start: (input: unknown, signal: AbortSignal) => downloadFrom(waymark, input as DownloadInput, signal),
    onError: (error: unknown) => waymark.accounts.context.report('failed to write a download', error),
  }
  return withLocalCommands(others, workOf(waymark, door), downloads, secret)
}

/** The same for the owner of a directory that has no door of its own for them. */
export const ownerCommands = (waymark: LocalWaymark, secret: string): ReturnType<typeof withLocalCommands> =>
  commandsOf(waymark, doors.get(waymark) ?? { publicUrl: null }, secret)

async function openDoor(waymark: LocalWaymark, door: Door): Promise<() => Promise<void>> {
  const secret = newSecret()
  const answer = commandsOf(waymark, door, secret)
  const server = createServer(
    getRequestListener((request, env) => answer(request, null, () => (env as { outgoing: { destroy(): void } }).outgoing.destroy()), {
      overrideGlobalObjects: false,
    }),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve())
  })
  server.unref()
  const retract = await waymark.announce({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret })
  return async () => {
    await retract()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Once for each directory, however many handlers it has. */
export function takeCommands(waymark: LocalWaymark, publicUrl: string | undefined): void {
  if (waymark.dataDir === ':memory:') return
  const known = doors.get(waymark)
  if (known) {
    known.publicUrl ??= publicUrl ?? null
    return
  }
  const door: Door = { publicUrl: publicUrl ?? null }
  doors.set(waymark, door)
  const opening = openDoor(waymark, door).catch((error: unknown) => {
    waymark.accounts.context.report('commands cannot reach this process', error)
    return async () => undefined
  })
  waymark.beforeClosing(async () => (await opening)())
}
