pytest_plugins = ["tests.fixtures.plugin"]
