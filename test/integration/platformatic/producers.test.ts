process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../producers.test.ts');
