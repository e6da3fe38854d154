const { ConfigReader } = require('@backstage/config');
const { PuppetDbEntityProvider } = require('@backstage/plugin-catalog-backend-module-puppetdb');

const provider = { baseUrl: process.env.HTTP, query: '["~", "certname", "^web"]',
  schedule: { frequency: { minutes: 10 }, timeout: { minutes: 1 } } };
const config = new ConfigReader({ catalog: { providers: { puppetdb: { default: provider } } } });
const logger = { info() {}, debug() {}, warn: console.error, error: console.error, child: () => logger };
let task;
const scheduler = { createScheduledTaskRunner: () => ({ run: async given => { task = given.fn; } }) };
const connection = { refresh: async () => {}, applyMutation: async ({ entities }) => {
  console.log(JSON.stringify(entities.map(({ entity }) => [entity.metadata.name, entity.metadata.tags])));
} };
const [module_] = PuppetDbEntityProvider.fromConfig(config, { logger, scheduler });
module_.connect(connection).then(() => task());
