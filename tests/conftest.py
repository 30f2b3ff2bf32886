pytest_plugins = ["tests.fixtures.plugin", "tests.fixtures.hub_plugin"]
