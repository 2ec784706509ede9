import { bundleSimulator } from './bundle.ts'
console.log(await bundleSimulator('sim'))
