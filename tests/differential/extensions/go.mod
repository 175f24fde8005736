module github.com/celgate/celgate/tests/differential/extensions

go 1.26.0
