import { resolve } from 'node:path'
import type { LocalWaymark, OpenOptions } from '../../engine.ts'
import { following } from '../../following.ts'
import type { Project, Waymark } from '../../waymark.ts'
import type { HandlerMaker } from '../http/server/create-handler.ts'
import type { ClientParts } from '../library/client.ts'
import type { FileImportOptions, FileImportSummary } from '../library/import-files.ts'
import type { allCalls } from './calls.ts'
import { ConnectedProject } from './connected-project.ts'
import { followingHandler, operatorSend } from './following-handler.ts'
import { callAnywhere, type KnownProject } from './guest-calls.ts'
import type { Membership } from './membership.ts'

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>

/** A data directory that this process or another one has open. */
export class ConnectedWaymark implements Waymark {
  readonly dataDir: string
  readonly clock: () => Date
  /** What handlers and clients work with. */
  readonly [following]: HandlerMaker & ClientParts
  private readonly membership: Membership
  private closing: Promise<void> | null = null

  constructor(membership: Membership, dataDir: string, clock: OpenOptions['clock'] = () => new Date()) {
    this.membership = membership
    this.dataDir = dataDir
    this.clock = clock
    this[following] = {
      handler: (options) => followingHandler(membership, options),
      send: operatorSend(membership),
      importFiles: (project, files, options) => this.importFiles(project, files, options),
    }
  }

  createProject: Waymark['createProject'] = async (settings) => this.projectOf(await this.call('createProject', [settings ?? {}]))
  findOrCreateProject: Waymark['findOrCreateProject'] = async (settings) =>
    this.projectOf(await this.call('findOrCreateProject', [settings]))
  project: Waymark['project'] = async (idOrName) => this.projectOf(await this.call('project', [idOrName]))
  projects: Waymark['projects'] = () => this.call('projects', [])
  createPersonalKey: Waymark['createPersonalKey'] = (options) => this.call('createPersonalKey', [options])
  defaultOrganization: Waymark['defaultOrganization'] = () => this.call('defaultOrganization', [])
  createOrganization: Waymark['createOrganization'] = (settings) => this.call('createOrganization', [settings])
  createSetupLink: Waymark['createSetupLink'] = (publicUrl) => this.call('createSetupLink', [publicUrl])
  removeHostUser: Waymark['removeHostUser'] = (user) => this.call('removeHostUser', [user])
  backup: Waymark['backup'] = (to, options = {}) => this.call('backup', [placeOf(to), options])
  compact: Waymark['compact'] = (options = {}) => this.call('compact', [options])
  restoreProject: Waymark['restoreProject'] = (from, options) => this.call('restoreProject', [placeOf(from), options])

  close(): Promise<void> {
    this.closing ??= this.membership.close()
    return this.closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private call<T>(method: keyof typeof allCalls.directory, args: readonly unknown[]): Promise<T> {
    const here = async (waymark: LocalWaymark) => (waymark as unknown as Methods)[method]!(...args) as Promise<T>
    return callAnywhere<T>(this.membership, { target: { of: 'directory' }, method, args, here })
  }

  private projectOf(found: Project | KnownProject): Project {
    const known = 'reports' in found ? found : { id: found.id, token: found.token, reports: found.recoveryReports() }
    return new ConnectedProject(this.membership, known)
  }

  private importFiles(project: number, files: readonly string[], options: FileImportOptions = {}): Promise<FileImportSummary> {
    const paths = files.map((file) => resolve(file))
    return callAnywhere<FileImportSummary>(this.membership, {
      target: { of: 'files', project },
      method: 'importFiles',
      args: [paths, options],
      here: async (waymark) => (await import('../library/import-files.ts')).importFiles(waymark, project, paths, options),
    })
  }
}

/** The owner may run in another folder. */
const placeOf = (place: string): string => (typeof place !== 'string' || /^[a-z0-9]+:\/\//.test(place) ? place : resolve(place))
